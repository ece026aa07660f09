#include "hewn/train/limits.h"

#include <cmath>

#include "hewn/core/error.h"

namespace hewn::train {
namespace {

struct Allowance {
  std::string unit;
  double dense = 0;
  double fixed = 0;
  double for_blocks = 0;
};

Allowance allowance_of(const prune::Plan& plan) {
  Allowance out;
  double one = 1;
  switch (plan.options.budget.kind) {
    case prune::BudgetKind::kMs:
      out.unit = "ms";
      one = prune::kPicoseconds;
      break;
    case prune::BudgetKind::kFlops:
      out.unit = "multiply-adds";
      break;
    default:
      out.unit = "bytes";
  }
  for (const prune::LayerPlan& layer : plan.layers) {
    out.dense += static_cast<double>(layer.cost.dense) / one;
    out.fixed += static_cast<double>(layer.pruned ? layer.cost.fixed : layer.cost.dense) / one;
  }
  out.for_blocks = static_cast<double>(plan.limit) / one;
  return out;
}

}  // namespace

std::vector<std::string> limit_notes(const prune::Plan& plan) {
  const prune::Budget& budget = plan.options.budget;
  if (!budget.shared() || plan.layers_pruned() == 0) return {};
  std::vector<std::string> out;
  if (budget.limited()) {
    const Allowance all = allowance_of(plan);
    const auto amount = [&](double value) {
      return all.unit == "ms" ? hewn::str(std::round(value * 1e4) / 1e4)
                              : std::to_string(std::llround(value));
    };
    out.push_back(hewn::str("budget ", to_string(budget), ": ", amount(all.fixed + all.for_blocks), " of ",
                            amount(all.dense), " ", all.unit, " in prunable layers; ", amount(all.fixed),
                            " are spent whatever is kept, ", amount(all.for_blocks),
                            " are left for kept blocks"));
  } else {
    out.push_back(hewn::str("budget ", to_string(budget), ": the best ", plan.blocks_kept(), " of ",
                            plan.blocks_total(), " blocks of all pruned layers together"));
  }
  out.emplace_back(
      "layers share the budget: how many blocks each keeps is known after training; shown are equal shares, "
      "of which each keeps a tenth at least");
  return out;
}

Json limit_json(const prune::Plan& plan) {
  const prune::Budget& budget = plan.options.budget;
  Json out = {{"name", to_string(budget)}};
  if (!budget.limited() || plan.layers_pruned() == 0) return out;
  const Allowance all = allowance_of(plan);
  out["unit"] = all.unit;
  out["dense"] = all.dense;
  out["limit"] = all.fixed + all.for_blocks;
  out["fixed"] = all.fixed;
  out["for_blocks"] = all.for_blocks;
  return out;
}

}  // namespace hewn::train
