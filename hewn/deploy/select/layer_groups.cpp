#include "hewn/deploy/select/layer_groups.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/measure/conv.h"
#include "hewn/measure/linear.h"

namespace hewn::deploy {
namespace {

constexpr int64_t kPixelsAtOnce = 8;  // within 3 % of the best on the layers of bench/kernels
constexpr double kLongCallMs = 20;    // such calls are timed once: large models have many

std::string shape_text(const nn::LayerUse& use) {
  if (!use.convolution) return str(use.in, " -> ", use.out, use.rows > 1 ? str(", ", use.rows, " rows") : "");
  const kernels::ConvGeometry& g = use.geometry;
  return str(use.in, " -> ", use.out, ", ", g.kernel_height, "x", g.kernel_width, " over ", use.height, "x",
             use.width, ", stride ", g.stride, ", padding ", g.padding,
             g.dilation > 1 ? str(", dilation ", g.dilation) : "");
}

}  // namespace

std::vector<LayerGroup> groups_of(const std::vector<nn::LayerUse>& uses) {
  std::vector<LayerGroup> groups;
  for (const nn::LayerUse& use : uses) {
    const std::string shape = shape_text(use);
    auto same = std::find_if(groups.begin(), groups.end(),
                             [&](const LayerGroup& g) { return g.time.shape == shape; });
    if (same == groups.end()) same = groups.insert(groups.end(), {use, {{}, shape, 0, ""}});
    same->time.names.push_back(use.name);
  }
  return groups;
}

std::unique_ptr<measure::Layer> timed_layer(const nn::LayerUse& use, const AdviceOptions& options) {
  if (!use.convolution) {
    return std::make_unique<measure::Linear>(measure::LinearShape{options.batch * use.rows, use.in, use.out},
                                             options.seed);
  }
  return std::make_unique<measure::Conv2d>(
      measure::Conv2dShape{options.batch, use.in, use.out, use.height, use.width, use.geometry}, options.seed,
      kPixelsAtOnce);
}

std::string Turmoil::why_withheld() const {
  if (disturbed == 0) return "";
  return str("other programs held the processors in ", disturbed, " of ", timed,
             " measurements; one thread is timed by its CPU time, which they disturb less");
}

measure::Candidate fastest(const std::vector<measure::Contender>& ways, int64_t rounds, Turmoil& turmoil) {
  measure::Turns turns{rounds, measure::clock_for(at::get_num_threads()), 1, kLongCallMs, false};
  std::vector<measure::Timing> timings = measure::interleave(ways, turns);
  const auto calm = [](const measure::Timing& timing) { return timing.calm_rounds() > 0; };
  for (int64_t turn = 1; turn < measure::kMostTurns && !std::all_of(timings.begin(), timings.end(), calm);
       ++turn) {
    turns.limit_ms += kLongCallMs;
    measure::go_on(ways, turns, timings);
  }
  const auto best = std::min_element(timings.begin(), timings.end(), [](const auto& a, const auto& b) {
    return a.median_ms() < b.median_ms();
  });
  ++turmoil.timed;
  if (!calm(*best)) ++turmoil.disturbed;
  return {best->name, best->median_ms(), ""};
}

}  // namespace hewn::deploy
