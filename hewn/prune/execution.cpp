#include "hewn/prune/execution.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/options.h"
#include "hewn/kernels/tile.h"

namespace hewn::prune {
namespace {

// Densities below which a training step on kept blocks was the faster one (mlp, ctr-dnn and resnet18, one
// core of an AMD EPYC): blocks of 2 up to 0.15, of 4 and 5 up to 0.25 to 0.6, of 8 and more up to 0.45 to 1;
// layers of a few thousand weights hardly ever.
constexpr int64_t kSmallSide = 4;
constexpr int64_t kLargeSide = 8;
constexpr double kSmallLimit = 0.3;
constexpr double kLargeLimit = 0.6;
constexpr int64_t kFewWeights = 4096;

}  // namespace

double usual_limit(const Grid& grid) {
  if (std::string_view(kernels::machine().name) == "portable") return 0;
  const int64_t side = std::min(grid.block.rows, grid.block.cols);
  if (side < kSmallSide || grid.elements() < kFewWeights) return 0;
  return side < kLargeSide ? kSmallLimit : kLargeLimit;
}

DensityLimits parse_limits(const std::string& text, const Pruner& pruner) {
  DensityLimits limits;
  if (text == "off") return limits;
  if (text == "on") {
    for (const auto& layer : pruner.layers()) {
      if (layer.slot.set_sparse) limits[layer.name] = 1;
    }
    return limits;
  }
  const auto bad = [&] {
    return Error(str("sparse-execution: expected auto, on, off or LAYER:DENSITY,..., got \"", text, "\""));
  };
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    const size_t colon = item.rfind(':');
    if (colon == std::string::npos || colon == 0) throw bad();
    double limit = 0;
    parse_value("sparse-execution", item.substr(colon + 1), limit);
    if (!(limit >= 0 && limit <= 1)) throw bad();
    limits[item.substr(0, colon)] = limit;
    begin = end + 1;
  }
  for (const auto& given : limits) {
    const bool known = std::any_of(pruner.layers().begin(), pruner.layers().end(),
                                   [&](const auto& layer) { return layer.name == given.first; });
    if (!known) throw Error(str("sparse-execution: no pruned layer is called \"", given.first, "\""));
  }
  return limits;
}

std::string to_text(const DensityLimits& limits) {
  std::string text;
  for (const auto& [layer, limit] : limits) text += str(text.empty() ? "" : ",", layer, ":", limit);
  return text.empty() ? "off" : text;
}

DensityLimits usual_limits(const Pruner& pruner) {
  DensityLimits limits;
  for (const auto& layer : pruner.layers()) {
    const double limit = usual_limit(layer.weight.layout.grid);
    if (layer.slot.set_sparse && limit > 0) limits[layer.name] = limit;
  }
  return limits;
}

Execution execution_of(const DensityLimits& limits) {
  return [limits](const Pruner::Layer& layer, double density) {
    const auto found = limits.find(layer.name);
    return found != limits.end() && density <= found->second;
  };
}

}  // namespace hewn::prune
