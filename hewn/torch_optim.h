#pragma once

#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/optimizer.h>

#include <memory>
#include <type_traits>
#include <vector>

#include "hewn/core/error.h"
#include "hewn/parameters.h"
#include "hewn/pruner.h"

/// Pruning with any optimiser of torch::optim:
///
///   torch::optim::AdamW optimiser(hewn::param_groups(pruner, torch::optim::AdamWOptions(1e-3)));
///   for each batch: pruner.step(optimiser); optimiser.zero_grad(); loss.backward();
///                   pruner.after_backward(); optimiser.step();
namespace hewn {

/// All that is trained, in three groups: weights, then biases and normalisation layers (without decay unless
/// `decay_all`), then logits and masks with the method's own rate and decay. Schedulers see all of them.
template <class Options>
std::vector<torch::optim::OptimizerParamGroup> param_groups(Pruner& pruner, const Options& options,
                                                            bool decay_all = false) {
  constexpr bool kAdam = std::is_same_v<Options, torch::optim::AdamOptions> ||
                         std::is_same_v<Options, torch::optim::AdamWOptions>;
  pruner.trained_by(kAdam);
  struct Group {
    double lr_factor, weight_decay;
    std::vector<at::Tensor> tensors;
  };
  std::vector<Group> groups;
  for (const Parameter& parameter : parameters_of(pruner, options.weight_decay(), decay_all)) {
    if (parameter.l1_decay != 0 || parameter.shared_moment) {
      throw Error("optimiser: this method asks more than torch::optim can do; use hewn::Optimiser");
    }
    const auto same = [&](const Group& group) {
      return group.lr_factor == parameter.lr_factor && group.weight_decay == parameter.weight_decay;
    };
    auto group = std::find_if(groups.begin(), groups.end(), same);
    if (group == groups.end()) {
      groups.push_back({parameter.lr_factor, parameter.weight_decay, {}});
      group = groups.end() - 1;
    }
    group->tensors.push_back(parameter.tensor);
  }
  std::vector<torch::optim::OptimizerParamGroup> out;
  for (Group& group : groups) {
    auto own = std::make_unique<Options>(options);
    own->lr(options.lr() * group.lr_factor);
    own->weight_decay(group.weight_decay);
    out.emplace_back(std::move(group.tensors), std::move(own));
  }
  return out;
}

}  // namespace hewn
