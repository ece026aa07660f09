#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>

#include "hewn/core/error.h"
#include "hewn/prune/search/search.h"

namespace hewn::prune {

/// Drop by importance, grow by gradient (Evci et al. 2020, RigL), block by block. A block that is dropped
/// does not come back in the same choice.
std::vector<at::Tensor> regrow(const std::vector<Candidates>& layers, const Limits& limits) {
  std::vector<at::Tensor> supports;
  for (const Candidates& layer : layers) {
    if (!layer.growth.defined()) {
      throw Error("search regrow: needs a score that sees gradients; use score regrowth");
    }
    if (!layer.within.defined()) {
      supports.push_back(top_k(layer.importance, layer.keep, {}));
      continue;
    }
    const auto wanted = static_cast<int64_t>(std::floor(limits.moved * static_cast<double>(layer.keep)));
    const int64_t moved = std::min(wanted, layer.importance.numel() - layer.keep);
    const at::Tensor stay = top_k(layer.importance, layer.keep - moved, layer.within);
    supports.push_back(stay + top_k(layer.growth, moved, (layer.within == 0).to(at::kByte)));
  }
  return supports;
}

}  // namespace hewn::prune
