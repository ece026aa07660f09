#include "hewn/prune/share_budget.h"

#include <algorithm>
#include <cmath>

#include "hewn/core/error.h"

namespace hewn::prune {
namespace {

constexpr int64_t kFloat = 4;  // bytes of a number, and of an index

/// As sparse_bytes counts them.
LayerCost bytes_of(const LayerPlan& layer) {
  return {.dense = kFloat * layer.elements(),
          .fixed = kFloat * (layer.grid.col_blocks() + 1),
          .each = kFloat,
          .per_element = kFloat};
}

LayerCost products_of(const LayerPlan& layer) {
  if (layer.positions < 1) {
    throw Error(str("budget: flops needs to know how often a sample meets layer ", layer.name,
                    ", which nothing says (positions)"));
  }
  return {.dense = layer.products(), .fixed = 0, .each = 0, .per_element = layer.positions};
}

/// Every layer that was timed must be one of the network's.
void check_names(const std::vector<WeightShape>& weights, const std::vector<LayerTimes>& times) {
  for (const LayerTimes& some : times) {
    const bool known = std::any_of(weights.begin(), weights.end(),
                                   [&](const WeightShape& weight) { return weight.name == some.name; });
    if (!known) throw Error(str("costs: the network has no layer \"", some.name, "\" that can be pruned"));
  }
}

LayerCost time_of(const LayerPlan& layer, const std::vector<LayerTimes>& times) {
  const auto found = std::find_if(times.begin(), times.end(),
                                  [&](const LayerTimes& some) { return some.name == layer.name; });
  if (found == times.end()) {
    throw Error(str("costs: say nothing of layer ", layer.name,
                    "; write them for this network, block and batch with hewn advise --costs"));
  }
  const auto same = [&](const char* what, int64_t timed, int64_t own) {
    if (timed == 0 || own == 0 || timed == own) return;
    throw Error(str("costs: of layer ", layer.name, " are for ", timed, " ", what, ", here it has ", own,
                    "; write them for this network and data with hewn advise --costs"));
  };
  same("blocks", found->blocks, layer.grid.blocks());
  same("positions", found->positions, layer.positions);
  const auto whole = [](double ms) { return static_cast<int64_t>(std::llround(ms * kPicoseconds)); };
  return {.dense = whole(found->dense_ms),
          .fixed = whole(found->fixed_ms),
          .each = std::max<int64_t>(1, whole(found->block_ms))};
}

LayerCost cost_of(const Plan& plan, const LayerPlan& layer) {
  switch (plan.options.budget.kind) {
    case BudgetKind::kFlops:
      return products_of(layer);
    case BudgetKind::kMs:
      return time_of(layer, plan.options.times);
    default:
      return bytes_of(layer);
  }
}

/// What kept blocks may cost, once layers that stay dense and what cannot be saved are paid for.
void set_limit(Plan& plan, const std::vector<WeightShape>& weights) {
  const Budget& budget = plan.options.budget;
  if (budget.kind == BudgetKind::kMs) check_names(weights, plan.options.times);
  double dense = 0;
  double paid = 0;
  double all = 0;
  for (LayerPlan& layer : plan.layers) {
    layer.cost = cost_of(plan, layer);
    dense += static_cast<double>(layer.cost.dense);
    paid += static_cast<double>(layer.pruned ? layer.cost.fixed : layer.cost.dense);
    if (layer.pruned) all += static_cast<double>(layer.cost.of_all_blocks(layer.grid));
  }
  const double unit = budget.kind == BudgetKind::kMs ? kPicoseconds : dense;
  const double limit = std::floor(budget.limit * unit + 1e-6 - paid);
  if (limit >= all) {
    throw Error(str("budget: ", to_string(budget), " leaves nothing to prune: the dense network needs ",
                    dense / unit, " of it"));
  }
  double least = 0;
  plan.options.sparsity = 1 - std::max(limit, 1.0) / all;
  for (const LayerPlan& layer : plan.layers) {
    if (!layer.pruned) continue;
    const int64_t share = blocks_to_keep(layer.grid.blocks(), plan.options.sparsity, plan.options.rounding);
    const int64_t block =
        layer.cost.each + layer.cost.per_element * layer.grid.block.rows * layer.grid.block.cols;
    least += static_cast<double>(least_blocks(share) * block);
  }
  if (limit < least) {
    throw Error(str("budget: ", to_string(budget), " cannot be met: layers that stay dense (", "fewer than ",
                    plan.options.min_blocks, " blocks) and the least that others keep need ",
                    (paid + least) / unit));
  }
  plan.limit = static_cast<int64_t>(limit);
}

std::vector<double> densities(const Plan& plan) {
  std::vector<std::vector<int64_t>> shapes;
  for (const LayerPlan& layer : plan.layers) {
    if (layer.pruned) shapes.push_back(layer.shape);
  }
  const double density = 1 - plan.options.sparsity;
  if (plan.options.budget.kind == BudgetKind::kErk) return erk_densities(shapes, density);
  return std::vector<double>(shapes.size(), density);
}

}  // namespace

int64_t least_blocks(int64_t share) { return std::max<int64_t>(1, share / 10); }

void share_budget(Plan& plan, const std::vector<WeightShape>& weights) {
  if (plan.options.budget.limited() && plan.layers_pruned() > 0) set_limit(plan, weights);
  const std::vector<double> shares = densities(plan);
  size_t next = 0;
  for (LayerPlan& layer : plan.layers) {
    if (layer.pruned)
      layer.keep = blocks_to_keep(layer.grid.blocks(), 1 - shares[next++], plan.options.rounding);
  }
}

}  // namespace hewn::prune
