#include "hewn/network.h"

#include <torch/nn/module.h>

#include <algorithm>

#include "hewn/nn/model.h"
#include "hewn/nn/slots.h"

namespace hewn {

Network network_of(torch::nn::Module& module, bool embeddings) {
  Network network{nn::find_slots(module, {.embeddings = embeddings}), {}, {}, {}};
  if (const auto* model = dynamic_cast<const nn::Model*>(&module)) network.chain = model->chain();
  for (const auto& item : module.named_parameters()) {
    const bool known = std::any_of(network.parameters.begin(), network.parameters.end(),
                                   [&](const auto& other) { return other.second.is_same(item.value()); });
    if (known) continue;  // of two layers that share it
    network.parameters.emplace_back(item.key(), item.value());
    if (nn::is_embedding(module, item.value())) network.tables.push_back(item.value());
  }
  return network;
}

}  // namespace hewn
