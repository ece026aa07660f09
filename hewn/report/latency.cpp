#include "hewn/report/latency.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <memory>

#include "hewn/core/error.h"
#include "hewn/deploy/export.h"
#include "hewn/deploy/finished_run.h"
#include "hewn/kernels/tile.h"
#include "hewn/measure/conv.h"
#include "hewn/measure/linear.h"
#include "hewn/measure/network.h"
#include "hewn/nn/trace.h"
#include "hewn/report/series.h"

namespace hewn::report {
namespace {

constexpr double kProductsOfACall = 1e10;  // 0.4 s on one core, dense
constexpr int64_t kMostSamples = 256;
constexpr int64_t kPixelsAtOnce = 8;  // within 3 % of the best on the layers of bench/kernels

/// Layers of one shape and density cost the same.
struct Shape {
  bool convolution;
  measure::LinearShape linear;
  measure::Conv2dShape conv;
  measure::Point point;

  bool operator==(const Shape& other) const {
    return convolution == other.convolution && linear == other.linear && conv == other.conv &&
           point.block == other.point.block && point.sparsity == other.point.sparsity;
  }
};

Shape shape_of(const nn::LayerUse& use, const train::LayerReport& layer, int64_t batch) {
  const double sparsity =
      1 - static_cast<double>(layer.kept) / static_cast<double>(std::max<int64_t>(1, layer.grid.blocks()));
  return {use.convolution,
          {batch * use.rows, use.in, use.out},
          {batch, use.in, use.out, use.height, use.width, use.geometry},
          {layer.grid.block, sparsity}};
}

Json time_of(const Shape& shape, int64_t rounds) {
  std::unique_ptr<measure::Layer> layer;
  if (shape.convolution) {
    layer = std::make_unique<measure::Conv2d>(shape.conv, 0, kPixelsAtOnce);
  } else {
    layer = std::make_unique<measure::Linear>(shape.linear, 0);
  }
  return latency_json(measure::compare(*layer, measure::Product::kForward, shape.point, rounds));
}

Json time_layers(const RunView& run, int64_t batch, int64_t rounds) {
  const deploy::StartedRun started = deploy::StartedRun::open(run.folder());
  const train::ModelReport& report = run.layers().report;
  std::vector<std::pair<Shape, Json>> known;
  Json out = Json::object();
  for (const nn::LayerUse& use : nn::trace_layers(*started.model, started.config.signature.input)) {
    const auto layer = std::find_if(report.layers.begin(), report.layers.end(),
                                    [&](const train::LayerReport& row) { return row.name == use.name; });
    if (layer == report.layers.end() || !layer->pruned || layer->kept == layer->grid.blocks()) continue;
    const Shape shape = shape_of(use, *layer, batch);
    auto same =
        std::find_if(known.begin(), known.end(), [&](const auto& entry) { return entry.first == shape; });
    if (same == known.end()) same = known.insert(known.end(), {shape, time_of(shape, rounds)});
    out[use.name] = same->second;
  }
  return out;
}

int64_t fitting_batch(const RunView& run, int64_t wanted) {
  if (wanted > 0) return wanted;
  double products = 1;
  for (const auto& [layer, count] : run.layers().products) products += static_cast<double>(count);
  return std::clamp(static_cast<int64_t>(kProductsOfACall / products), int64_t{1}, kMostSamples);
}

}  // namespace

Json latency_json(const measure::Comparison& result) {
  const measure::Steadiness& steadiness = result.steadiness;
  Json out = {{"dense_ms", rounded(result.dense.ms)},
              {"sparse_ms", rounded(result.sparse.ms)},
              {"speedup", steadiness.steady() ? Json(rounded(result.speedup(), 4)) : Json(nullptr)},
              {"speedup_quartiles", {rounded(steadiness.ratio.low, 4), rounded(steadiness.ratio.high, 4)}},
              {"ideal_speedup", rounded(1 / result.density, 4)},
              {"rounds", steadiness.rounds},
              {"calm_rounds", steadiness.calm},
              {"dense_baseline", result.dense.name}};
  if (!steadiness.steady()) out["withheld"] = steadiness.withheld;
  if (const std::string beyond = result.beyond_products(); !beyond.empty()) out["beyond_products"] = beyond;
  return out;
}

Json measure_latency(const RunView& run, const LatencyOptions& options) {
  if (options.batch < 0) throw Error(str("batch: expected 0 or more, got ", options.batch));
  if (run.status() != Status::kFinished) return {{"missing", "the run is not finished"}};
  try {
    const int64_t batch = fitting_batch(run, options.batch);
    Json out = {
        {"batch", batch}, {"threads", at::get_num_threads()}, {"instructions", kernels::machine().name}};
    const runtime::ModelData data = deploy::exported_run(run.folder());
    out["clock"] = measure::to_string(measure::clock_for(at::get_num_threads()));
    out.update(latency_json(measure::compare(data, {batch, options.rounds, 0})));
    // What disturbed the network would disturb its layers.
    out["layers"] = out.contains("withheld") ? Json::object() : time_layers(run, batch, options.layer_rounds);
    return out;
  } catch (const Error& problem) {
    // Some models have no form that the runtime can run; the page says so.
    return {{"missing", problem.what()}};
  }
}

}  // namespace hewn::report
