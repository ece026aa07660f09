#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones_like.h>

#include <algorithm>
#include <limits>

#include "hewn/prune/search/search.h"

namespace hewn::prune {

/// One budget for all layers: the sum of theirs. Each layer's best `floor` blocks are taken first, so that
/// none is emptied, then the best of all the others.
std::vector<at::Tensor> global(const std::vector<Candidates>& layers) {
  if (layers.empty()) return {};
  std::vector<at::Tensor> importance;
  std::vector<at::Tensor> within;
  int64_t budget = 0;
  for (const Candidates& layer : layers) {
    const int64_t floor = std::min(layer.floor, layer.keep);
    const at::Tensor guarded = top_k(layer.importance, floor, layer.within);
    importance.push_back(layer.importance.masked_fill(guarded != 0, std::numeric_limits<double>::infinity()));
    within.push_back(layer.within.defined() ? layer.within : at::ones_like(guarded));
    budget += layer.keep;
  }
  const at::Tensor chosen = top_k(at::cat(importance), budget, at::cat(within));
  std::vector<at::Tensor> supports;
  int64_t offset = 0;
  for (const at::Tensor& layer : importance) {
    supports.push_back(chosen.narrow(0, offset, layer.numel()).clone());
    offset += layer.numel();
  }
  return supports;
}

}  // namespace hewn::prune
