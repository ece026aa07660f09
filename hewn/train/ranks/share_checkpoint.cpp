#include "hewn/train/ranks/share_checkpoint.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include "hewn/dist/text.h"

namespace hewn::train {

std::optional<Checkpoint> share_checkpoint(const std::optional<Checkpoint>& own, dist::Communicator& group) {
  if (group.place().alone()) return own;
  Json header;
  if (own) {
    header = {{"step", own->step}, {"state", own->state}, {"tensors", Json::array()}};
    for (const auto& [name, tensor] : own->tensors) {
      header["tensors"].push_back({{"name", name},
                                   {"type", static_cast<int>(tensor.scalar_type())},
                                   {"shape", tensor.sizes().vec()}});
    }
  }
  header = Json::parse(dist::broadcast_text(group, header.dump()));
  if (header.is_null()) return std::nullopt;
  Checkpoint out{header["step"], header["state"], {}};
  for (const Json& item : header["tensors"]) {
    const auto name = item["name"].get<std::string>();
    const auto type = static_cast<at::ScalarType>(item["type"].get<int>());
    const auto shape = item["shape"].get<std::vector<int64_t>>();
    const at::Tensor tensor = group.place().first()
                                  ? own->tensors.at(name).to(group.device()).contiguous()
                                  : at::empty(shape, at::TensorOptions(type).device(group.device()));
    group.broadcast(tensor);
    out.tensors[name] = tensor.cpu();
  }
  return out;
}

}  // namespace hewn::train
