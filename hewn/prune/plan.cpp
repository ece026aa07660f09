#include "hewn/prune/plan.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/prune/share_budget.h"

namespace hewn::prune {
namespace {

bool fits(const BlockShape& block, const Grid& grid) {
  return block.rows <= grid.rows && block.cols <= grid.cols;
}

void check_block(const std::vector<WeightShape>& weights, const BlockShape& block) {
  if (weights.empty())
    throw Error("plan: the network has no weight that can be pruned: no Linear, Conv1d or Conv2d layer");
  const WeightShape* largest = &weights.front();
  for (const WeightShape& weight : weights) {
    if (fits(block, weight.grid)) return;
    if (weight.grid.elements() > largest->grid.elements()) largest = &weight;
  }
  throw Error(str("block ", to_string(block), " is larger than every layer: the largest, ", largest->name,
                  ", is ", largest->grid.rows, "x", largest->grid.cols));
}

void check_patterns(const std::vector<WeightShape>& weights, const char* option,
                    const std::vector<std::string>& patterns) {
  std::vector<std::string> names;
  for (const WeightShape& weight : weights) names.push_back(weight.name);
  for (const std::string& pattern : patterns) {
    const bool used =
        std::any_of(names.begin(), names.end(), [&](const auto& n) { return matches(pattern, n); });
    if (!used)
      throw Error(str(option, ": no layer is called \"", pattern, "\"", did_you_mean(pattern, names)));
  }
}

}  // namespace

Plan make_plan(const std::vector<WeightShape>& weights, const PlanOptions& options) {
  if (!(options.sparsity >= 0 && options.sparsity < 1)) {
    throw Error(str("sparsity: expected a number in [0, 1), got ", options.sparsity));
  }
  check_block(weights, options.block);
  check_patterns(weights, "prune-layers", options.layers);
  check_patterns(weights, "except", options.except);
  Plan plan{options, {}};
  for (const WeightShape& weight : weights) {
    LayerPlan layer{weight.name, weight.shape, weight.grid, 0, false, ""};
    layer.positions = weight.positions;
    layer.grid.block = options.block;
    layer.keep = layer.grid.blocks();
    const int64_t blocks = layer.grid.blocks();
    const bool named = std::any_of(options.layers.begin(), options.layers.end(),
                                   [&](const auto& pattern) { return matches(pattern, weight.name); });
    const bool excepted = std::any_of(options.except.begin(), options.except.end(),
                                      [&](const auto& pattern) { return matches(pattern, weight.name); });
    if (!named || excepted) {
      layer.why_dense = named ? "excepted" : "not named in prune-layers";
    } else if (blocks < options.min_blocks) {
      layer.why_dense = str("fewer than ", options.min_blocks, " blocks");
    }
    layer.pruned = layer.why_dense.empty();
    plan.layers.push_back(std::move(layer));
  }
  share_budget(plan, weights);
  return plan;
}

Plan plan_of(const std::vector<WeightShape>& weights, const Blocks& support) {
  if (support.empty()) throw Error("support: names no layer");
  Plan plan{{}, {}};
  plan.options.block = support.begin()->second.grid().block;
  plan.options.min_blocks = 1;
  plan.options.layers.clear();
  for (const WeightShape& weight : weights) {
    LayerPlan layer{weight.name, weight.shape, weight.grid, 0, false, ""};
    layer.positions = weight.positions;
    const auto given = support.find(weight.name);
    layer.pruned = given != support.end();
    layer.grid.block = layer.pruned ? given->second.grid().block : plan.options.block;
    layer.keep = layer.pruned ? given->second.kept() : layer.grid.blocks();
    if (!layer.pruned) {
      layer.why_dense = "not in the support";
    } else if (layer.grid == given->second.grid()) {
      plan.options.layers.push_back(weight.name);
    } else {
      throw Error(str("support: the blocks of layer ", weight.name, " are of a weight of ",
                      given->second.grid().rows, "x", given->second.grid().cols, ", but the weight is ",
                      weight.grid.rows, "x", weight.grid.cols));
    }
    plan.layers.push_back(std::move(layer));
  }
  for (const auto& [name, kept] : support) {
    const auto& known = plan.options.layers;
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(str("support: the network has no layer \"", name, "\" that could be pruned"));
  }
  plan.options.sparsity =
      1 - static_cast<double>(plan.blocks_kept()) / static_cast<double>(plan.blocks_total());
  return plan;
}

int64_t Plan::layers_pruned() const {
  return std::count_if(layers.begin(), layers.end(), [](const LayerPlan& layer) { return layer.pruned; });
}

int64_t Plan::blocks_kept() const {
  int64_t kept = 0;
  for (const LayerPlan& layer : layers) kept += layer.pruned ? layer.keep : 0;
  return kept;
}

int64_t Plan::blocks_total() const {
  int64_t total = 0;
  for (const LayerPlan& layer : layers) total += layer.pruned ? layer.grid.blocks() : 0;
  return total;
}

double Plan::realised_sparsity() const {
  double zeros = 0;
  double all = 0;
  for (const LayerPlan& layer : layers) {
    zeros += layer.realised_sparsity() * static_cast<double>(layer.elements());
    all += static_cast<double>(layer.elements());
  }
  return all == 0 ? 0 : zeros / all;
}

int64_t sparse_bytes(const Grid& grid, int64_t kept_blocks, int64_t kept_elements) {
  return 4 * (kept_elements + kept_blocks + grid.col_blocks() + 1);
}

}  // namespace hewn::prune
