#include "hewn/dist/text.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <cstring>

namespace hewn::dist {

std::string broadcast_text(Communicator& group, const std::string& text) {
  if (group.place().alone()) return text;
  const auto here = at::TensorOptions(group.device());
  const at::Tensor length = at::full({1}, static_cast<int64_t>(text.size()), here.dtype(at::kLong));
  group.broadcast(length);
  at::Tensor bytes = at::empty({length.item<int64_t>()}, at::kByte);
  if (group.place().first()) std::memcpy(bytes.data_ptr(), text.data(), text.size());
  bytes = bytes.to(group.device());
  group.broadcast(bytes);
  bytes = bytes.cpu();
  return {static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()};
}

}  // namespace hewn::dist
