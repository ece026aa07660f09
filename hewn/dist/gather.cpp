#include "hewn/dist/gather.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace hewn::dist {

std::vector<at::Tensor> gather_uneven(Communicator& group, const at::Tensor& tensor) {
  const at::Tensor size = at::zeros({1}, tensor.options().dtype(at::kLong)).fill_(tensor.size(0));
  std::vector<int64_t> sizes;
  for (const at::Tensor& other : group.gather(size)) sizes.push_back(other.item<int64_t>());
  // Everyone sends as much as the one who has most.
  std::vector<int64_t> shape = tensor.sizes().vec();
  shape[0] = *std::max_element(sizes.begin(), sizes.end());
  const at::Tensor padded = at::zeros(shape, tensor.options());
  padded.narrow(0, 0, tensor.size(0)).copy_(tensor);
  std::vector<at::Tensor> all = group.gather(padded);
  for (size_t i = 0; i < all.size(); ++i) all[i] = all[i].narrow(0, 0, sizes[i]);
  return all;
}

}  // namespace hewn::dist
