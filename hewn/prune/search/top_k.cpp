#include <ATen/TensorOperators.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/zeros.h>

#include <limits>

#include "hewn/prune/search/search.h"

namespace hewn::prune {

at::Tensor top_k(const at::Tensor& importance, int64_t keep, const at::Tensor& within) {
  at::Tensor ranked = importance.detach();
  if (within.defined()) {
    ranked = ranked.masked_fill(within == 0, -std::numeric_limits<double>::infinity());
  }
  // A stable sort is what breaks ties by the lowest index, on every device.
  const at::Tensor order = std::get<1>(at::sort(ranked, /*stable=*/true, /*dim=*/0, /*descending=*/true));
  at::Tensor support = at::zeros({importance.numel()}, importance.options().dtype(at::kByte));
  support.index_fill_(0, order.narrow(0, 0, keep), 1);
  return support;
}

std::vector<at::Tensor> per_layer(const std::vector<Candidates>& layers) {
  std::vector<at::Tensor> supports;
  supports.reserve(layers.size());
  for (const Candidates& layer : layers)
    supports.push_back(top_k(layer.importance, layer.keep, layer.within));
  return supports;
}

}  // namespace hewn::prune
