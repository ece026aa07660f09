#include "hewn/deploy/layer_costs.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <array>

#include "hewn/core/error.h"
#include "hewn/measure/processor.h"

namespace hewn::deploy {
namespace {

constexpr std::array<double, 4> kCostDensities = {0.5, 0.2, 0.1, 0.05};
constexpr double kLeastSlope = 1e-3;  // of a mean time, over all blocks of the fit

/// A layer smaller than the block is one ragged block or a few: they cost what the whole layer does.
CostLine cost_line(const measure::Layer& layer, const prune::LayerTimes& times, const BlockShape& block,
                   const AdviceOptions& options, Turmoil& turmoil) {
  const Grid grid = layer.grid();
  if (block.rows > grid.rows || block.cols > grid.cols)
    return {0, times.dense_ms / static_cast<double>(times.blocks)};
  std::vector<CostPoint> points;
  for (const double density : kCostDensities) {
    const measure::SparseWays ways = layer.sparse(measure::Product::kForward, {block, 1 - density});
    points.push_back(
        {static_cast<double>(ways.kept_blocks), fastest(ways.panels, options.rounds, turmoil).ms});
  }
  return fit_costs(points);
}

prune::LayerTimes group_costs(LayerGroup& group, const BlockShape& block, const AdviceOptions& options,
                              Turmoil& turmoil) {
  const auto layer = timed_layer(group.use, options);
  Grid grid = layer->grid();
  grid.block = block;
  prune::LayerTimes out;
  out.blocks = grid.blocks();
  out.positions = group.use.positions();
  out.dense_ms =
      fastest(measure::runnable(layer->dense(measure::Product::kForward)).contenders, options.rounds, turmoil)
          .ms;
  const CostLine line = cost_line(*layer, out, block, options, turmoil);
  out.fixed_ms = line.fixed;
  out.block_ms = line.each;
  return out;
}

}  // namespace

CostLine fit_costs(const std::vector<CostPoint>& points) {
  double n = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (const CostPoint& point : points) {
    n += 1;
    sum_x += point.blocks;
    sum_y += point.ms;
    sum_xx += point.blocks * point.blocks;
    sum_xy += point.blocks * point.ms;
  }
  const double spread = n * sum_xx - sum_x * sum_x;
  if (spread <= 0) return {0, sum_xy / sum_xx};  // one number of blocks says nothing of a fixed part
  const double slope = (n * sum_xy - sum_x * sum_y) / spread;
  const double start = (sum_y - slope * sum_x) / n;
  if (slope <= 0) return {sum_y / n, kLeastSlope * sum_y / sum_x};
  return start < 0 ? CostLine{0, sum_xy / sum_xx} : CostLine{start, slope};
}

MeasuredCosts measure_costs(nn::Model& model, const std::vector<int64_t>& input, const BlockShape& block,
                            const AdviceOptions& options) {
  if (options.batch < 1) throw Error(str("batch: expected at least 1, got ", options.batch));
  std::vector<LayerGroup> groups = groups_of(nn::trace_layers(model, input));
  for (const prune::WeightShape& weight : nn::traced_shapes(model, input)) {
    if (weight.positions < 1)
      throw Error(str("costs: layer ", weight.name, " cannot be timed: no kernel is made for it"));
  }
  const c10::InferenceMode no_autograd;
  MeasuredCosts out;
  out.costs.input = input;
  out.costs.block = block;
  out.costs.batch = options.batch;
  out.costs.threads = at::get_num_threads();
  out.costs.machine = measure::processor_name();
  Turmoil turmoil;
  int64_t done = 0;
  for (LayerGroup& group : groups) {
    prune::LayerTimes times = group_costs(group, block, options, turmoil);
    for (const std::string& name : group.time.names) {
      times.name = name;
      out.costs.layers.push_back(times);
    }
    if (options.progress) options.progress(++done, static_cast<int64_t>(groups.size()));
  }
  out.withheld = turmoil.why_withheld();
  return out;
}

}  // namespace hewn::deploy
