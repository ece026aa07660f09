#include "hewn/deploy/advise.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <set>

#include "hewn/core/error.h"
#include "hewn/deploy/select/layer_groups.h"
#include "hewn/measure/compare.h"
#include "hewn/nn/slots.h"
#include "hewn/nn/trace.h"
#include "hewn/prune/plan.h"

namespace hewn::deploy {
namespace {

constexpr double kNearTheBest = 0.9;
constexpr double kUsualSparsity = 0.9;

/// The layers that training would prune at that block size, whatever the sparsity.
std::set<std::string> pruned_layers(const std::vector<prune::WeightShape>& weights, const BlockShape& block,
                                    const AdviceOptions& options) {
  const bool fits = std::any_of(weights.begin(), weights.end(), [&](const prune::WeightShape& w) {
    return block.rows <= w.grid.rows && block.cols <= w.grid.cols;
  });
  std::set<std::string> names;
  if (!fits) return names;
  for (const auto& layer :
       prune::make_plan(weights, {block, kUsualSparsity, options.min_blocks, {"*"}}).layers) {
    if (layer.pruned) names.insert(layer.name);
  }
  return names;
}

/// Times the layers of one shape, dense and at every point, and adds them to the advice. `plans` are the
/// layers that are pruned at each block size; `tell` is called after each step.
void time_group(LayerGroup& group, const std::vector<std::set<std::string>>& plans,
                const AdviceOptions& options, const std::function<void()>& tell, Turmoil& turmoil,
                Advice& advice) {
  const auto count = static_cast<double>(group.time.names.size());
  const auto layer = timed_layer(group.use, options);
  const auto dense = fastest(measure::runnable(layer->dense(measure::Product::kForward)).contenders,
                             options.rounds, turmoil);
  group.time.dense_ms = dense.ms;
  group.time.dense_baseline = dense.name;
  advice.dense_ms += count * dense.ms;
  tell();
  for (size_t b = 0; b < advice.blocks.size(); ++b) {
    BlockAdvice& row = advice.blocks[b];
    const bool pruned = plans[b].contains(group.time.names.front());
    if (pruned) {
      row.layers_pruned += static_cast<int64_t>(group.time.names.size());
    } else {
      row.layers_skipped.insert(row.layers_skipped.end(), group.time.names.begin(), group.time.names.end());
    }
    for (size_t i = 0; i < options.sparsities.size(); ++i) {
      Trial& trial = advice.trials[b * options.sparsities.size() + i];
      const measure::Point point{row.block, trial.sparsity};
      const auto sparse_ms = [&] {
        return fastest(layer->sparse(measure::Product::kForward, point).panels, options.rounds, turmoil).ms;
      };
      trial.sparse_ms += count * (pruned ? sparse_ms() : dense.ms);
      trial.ideal_ms += count * dense.ms * (pruned ? 1 - trial.sparsity : 1);
      tell();
    }
  }
  advice.layers.push_back(group.time);
}

/// A word on a speed-up that fewer products cannot explain.
std::string beyond_products(const Trial& trial) {
  if (trial.sparse_ms * measure::kBeyondProducts >= trial.ideal_ms) return "";
  return str(" That is more than fewer products can give: ", measure::kWhyBeyondProducts, ".");
}

std::string advice_sentence(const Advice& advice) {
  if (!advice.withheld.empty()) return str("No advice now: ", advice.withheld, ".");
  const auto at_usual = [&](const Trial& s) { return s.sparsity == kUsualSparsity; };
  const Trial* best = nullptr;
  for (const Trial& s : advice.trials) {
    if (at_usual(s) && (best == nullptr || s.speedup > best->speedup)) best = &s;
  }
  if (best == nullptr) return "No layer has enough blocks to be pruned at these block sizes.";
  if (best->speedup <= 1) {
    return str("Block sparsity does not pay here: at ", 100 * kUsualSparsity, " % the best block size, ",
               to_string(best->block), ", is slower than dense.");
  }
  const auto near = std::find_if(advice.trials.begin(), advice.trials.end(), [&](const Trial& s) {
    return at_usual(s) && s.speedup >= kNearTheBest * best->speedup;
  });
  const auto& row = *std::find_if(advice.blocks.begin(), advice.blocks.end(),
                                  [&](const BlockAdvice& b) { return b.block == near->block; });
  return str("Train with block ", near->block.rows, " and sparsity ", kUsualSparsity, ": ",
             std::round(10 * near->speedup) / 10, " times as fast as dense at batch ", advice.batch,
             ", with the ", "smallest block near the best; it pays from ",
             std::round(100 * row.break_even.value_or(kUsualSparsity)), " % sparsity.",
             beyond_products(*near));
}

}  // namespace

AdviceOptions AdviceOptions::quick() {
  AdviceOptions options;
  options.blocks = {8, 16, 32};
  options.sparsities = {0.8, kUsualSparsity};
  options.rounds = 1;
  return options;
}

std::optional<double> line_break_even(const std::vector<Trial>& trials, double dense_ms) {
  double n = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (const Trial& s : trials) {
    const double density = 1 - s.sparsity;
    n += 1;
    sum_x += density;
    sum_y += s.sparse_ms;
    sum_xx += density * density;
    sum_xy += density * s.sparse_ms;
  }
  const double spread = n * sum_xx - sum_x * sum_x;
  if (spread <= 0) return std::nullopt;
  const double slope = (n * sum_xy - sum_x * sum_y) / spread;
  const double start = (sum_y - slope * sum_x) / n;
  if (slope <= 0) return start < dense_ms ? std::optional(0.0) : std::nullopt;
  const double density = (dense_ms - start) / slope;
  if (density <= 0) return std::nullopt;
  return std::max(0.0, 1 - density);
}

Advice advise(nn::Model& model, const std::vector<int64_t>& input, const AdviceOptions& options) {
  if (options.batch < 1) throw Error(str("batch: expected at least 1, got ", options.batch));
  std::vector<LayerGroup> groups = groups_of(nn::trace_layers(model, input));
  const c10::InferenceMode no_autograd;
  Advice advice;
  advice.batch = options.batch;
  advice.threads = at::get_num_threads();
  for (const int64_t size : options.blocks) {
    advice.blocks.push_back({{size, size}, 0, {}, std::nullopt});
    for (const double sparsity : options.sparsities) advice.trials.push_back({{size, size}, sparsity});
  }
  const std::vector<prune::WeightShape> weights = nn::weight_shapes(nn::find_slots(model));
  std::vector<std::set<std::string>> plans;
  for (const int64_t size : options.blocks) plans.push_back(pruned_layers(weights, {size, size}, options));
  Turmoil turmoil;
  auto tell = [&, done = int64_t{0},
               all = static_cast<int64_t>(groups.size() * (1 + advice.trials.size()))]() mutable {
    if (options.progress) options.progress(++done, all);
  };
  // One shape at a time: the activations of a large model's layers do not fit into memory together.
  for (LayerGroup& group : groups) time_group(group, plans, options, tell, turmoil, advice);
  for (Trial& trial : advice.trials) trial.speedup = advice.dense_ms / trial.sparse_ms;
  for (size_t b = 0; b < advice.blocks.size(); ++b) {
    const auto begin = advice.trials.begin() + static_cast<std::ptrdiff_t>(b * options.sparsities.size());
    const std::vector<Trial> own(begin, begin + static_cast<std::ptrdiff_t>(options.sparsities.size()));
    if (advice.blocks[b].layers_pruned > 0)
      advice.blocks[b].break_even = line_break_even(own, advice.dense_ms);
  }
  advice.withheld = turmoil.why_withheld();
  advice.sentence = advice_sentence(advice);
  return advice;
}

Json to_json(const Advice& advice) {
  Json layers = Json::array(), blocks = Json::array(), settings = Json::array();
  for (const LayerTime& layer : advice.layers) {
    layers.push_back({{"names", layer.names},
                      {"shape", layer.shape},
                      {"dense_ms", layer.dense_ms},
                      {"dense_baseline", layer.dense_baseline}});
  }
  for (const BlockAdvice& row : advice.blocks) {
    blocks.push_back({{"block", to_string(row.block)},
                      {"layers_pruned", row.layers_pruned},
                      {"layers_skipped", row.layers_skipped},
                      {"break_even_sparsity", row.break_even ? Json(*row.break_even) : Json(nullptr)}});
  }
  for (const Trial& s : advice.trials) {
    settings.push_back({{"block", to_string(s.block)},
                        {"sparsity", s.sparsity},
                        {"dense_ms", advice.dense_ms},
                        {"sparse_ms", s.sparse_ms},
                        {"speedup", advice.withheld.empty() ? Json(s.speedup) : Json(nullptr)}});
  }
  Json out = {{"batch", advice.batch},    {"threads", advice.threads}, {"dense_ms", advice.dense_ms},
              {"layers", layers},         {"blocks", blocks},          {"settings", settings},
              {"advice", advice.sentence}};
  if (!advice.withheld.empty()) out["withheld"] = advice.withheld;
  return out;
}

}  // namespace hewn::deploy
