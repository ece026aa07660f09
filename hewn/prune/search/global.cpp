#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <limits>

#include "hewn/prune/search/search.h"

namespace hewn::prune {
namespace {

// Importance stands for a norm, and what dropping a block changes goes with its square: so the square is
// compared with the cost, and half the cost's logarithm with the importance's.
constexpr double kCostPower = 0.5;
constexpr double kTinyImportance = 1e-30;

/// What a layer's blocks are ranked by among those of others. Its best `floor` blocks come before all others,
/// so that no layer is emptied.
at::Tensor shared_rank(const Candidates& layer) {
  at::Tensor rank = layer.importance;
  if (layer.cost.defined()) {
    if (!layer.in_logarithms) rank = rank.clamp_min(kTinyImportance).log();
    rank = rank - kCostPower * layer.cost.to(rank.scalar_type()).log();
  }
  if (layer.level.defined()) rank = rank + layer.level;
  const at::Tensor guarded = top_k(layer.importance, std::min(layer.floor, layer.keep), layer.within);
  return rank.masked_fill(guarded != 0, std::numeric_limits<double>::infinity());
}

/// The best blocks in turn, as long as all of them together cost no more than the limit.
at::Tensor best_within(const at::Tensor& rank, const at::Tensor& within, const at::Tensor& cost,
                       int64_t limit) {
  const at::Tensor allowed = rank.masked_fill(within == 0, -std::numeric_limits<double>::infinity());
  const at::Tensor order = std::get<1>(at::sort(allowed, /*stable=*/true, /*dim=*/0, /*descending=*/true));
  const at::Tensor spent = cost.index_select(0, order).cumsum(0);
  const at::Tensor taken = (spent <= limit).to(at::kByte) * within.index_select(0, order);
  at::Tensor support = at::zeros({rank.numel()}, rank.options().dtype(at::kByte));
  support.scatter_(0, order, taken);
  return support;
}

}  // namespace

std::vector<at::Tensor> global(const std::vector<Candidates>& layers, const Limits& limits) {
  if (layers.empty()) return {};
  std::vector<at::Tensor> ranks;
  std::vector<at::Tensor> within;
  std::vector<at::Tensor> costs;
  int64_t budget = 0;
  for (const Candidates& layer : layers) {
    ranks.push_back(shared_rank(layer));
    within.push_back(layer.within.defined() ? layer.within : at::ones_like(ranks.back(), at::kByte));
    if (layer.cost.defined()) costs.push_back(layer.cost);
    budget += layer.keep;
  }
  const at::Tensor chosen = costs.empty()
                                ? top_k(at::cat(ranks), budget, at::cat(within))
                                : best_within(at::cat(ranks), at::cat(within), at::cat(costs), limits.cost);
  std::vector<at::Tensor> supports;
  int64_t offset = 0;
  for (const at::Tensor& layer : ranks) {
    supports.push_back(chosen.narrow(0, offset, layer.numel()).clone());
    offset += layer.numel();
  }
  return supports;
}

}  // namespace hewn::prune
