#include "hewn/train/execution/execution.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "hewn/core/error.h"
#include "hewn/measure/interleave.h"
#include "hewn/nn/layers.h"
#include "hewn/prune/gate.h"
#include "hewn/train/execution/machine_cache.h"

namespace hewn::train {
namespace {

constexpr int kRounds = 5;
constexpr double kLimitMs = 200;  // of one contender; slow layers get fewer rounds
// Images that are timed at most: time grows with their number, and two panels show it.
constexpr int64_t kImages = 64;
// Kept blocks must be this much faster than dense before they are chosen: below it the gain is noise.
constexpr double kMargin = 0.95;
// Limits are rounded down to twentieths.
constexpr double kSteps = 20;

/// Every n-th block, so that about `density` of them are kept.
at::Tensor even_support(int64_t blocks, double density) {
  at::Tensor support = at::zeros({blocks}, at::kByte);
  auto* kept = support.data_ptr<uint8_t>();
  const auto count = std::max<int64_t>(1, std::llround(density * static_cast<double>(blocks)));
  for (int64_t i = 0; i < count; ++i) kept[i * blocks / count] = 1;
  return support;
}

/// Forward and backward pass of one layer, as it would run in training with that support.
template <class Layer>
void step(Layer& layer, const prune::WeightSlot& slot, const prune::Pruner::Layer& pruned,
          const at::Tensor& x, const at::Tensor& support, bool sparse) {
  const WeightLayout& layout = pruned.weight.layout;
  const at::Tensor gate = at::ones({layout.grid.blocks()}).set_requires_grad(true);
  if (sparse) {
    const auto blocks = std::make_shared<prune::SparseWeight>(slot.leaf, layout, support);
    blocks->gate = gate;
    slot.set_sparse(blocks);
  } else {
    slot.set(prune::block_scale(slot.leaf, gate, support, layout));
  }
  const at::Tensor y = layer.forward(x);
  y.backward(at::ones_like(y));
}

struct Times {
  double dense, low, high;  // medians
};

template <class Layer>
Times time_layer(Layer& layer, const prune::Pruner::Layer& pruned, double low, double high) {
  const prune::WeightSlot& slot = pruned.slot;
  at::Tensor leaf = slot.leaf;
  std::vector<int64_t> shape = layer.input_shape();
  const int64_t batch = shape[0];
  if (shape.size() == 4) shape[0] = std::min(batch, kImages);
  const at::Tensor x = at::ones(shape).set_requires_grad(true);
  const int64_t blocks = pruned.weight.blocks();
  const at::Tensor few = even_support(blocks, low);
  const at::Tensor many = even_support(blocks, high);
  const std::vector<measure::Timing> times = measure::interleave(
      {{"dense", [&] { step(layer, slot, pruned, x, few, false); }},
       {"few blocks", [&] { step(layer, slot, pruned, x, few, true); }},
       {"many blocks", [&] { step(layer, slot, pruned, x, many, true); }}},
      {.rounds = kRounds, .clock = measure::Clock::kWall, .slot_ms = 0, .limit_ms = kLimitMs});
  leaf.mutable_grad() = at::Tensor();
  if (layer.bias.defined()) layer.bias.mutable_grad() = at::Tensor();
  slot.set(slot.leaf);
  const double whole = static_cast<double>(batch) / static_cast<double>(shape[0]);
  return {whole * times[0].median_ms(), whole * times[1].median_ms(), whole * times[2].median_ms()};
}

/// The largest density at which a straight line through the two sparse times stays below dense.
double limit_from(const Times& times, double low, double high) {
  const double slope = std::max(0.0, (times.high - times.low) / (high - low));
  const double fixed = times.low - slope * low;
  const double room = kMargin * times.dense - fixed;
  if (room <= 0) return 0;
  const double limit = slope > 0 ? std::min(1.0, room / slope) : 1.0;
  return std::floor(limit * kSteps) / kSteps;
}

std::string key_of(const prune::Pruner::Layer& pruned, const std::vector<int64_t>& input, double density) {
  const Grid& grid = pruned.weight.layout.grid;
  return hewn::str("step input ", c10::IntArrayRef(input), " weight ", pruned.slot.leaf.sizes(), " block ",
                   to_string(grid.block), " density ", std::round(density * 100) / 100, " threads ",
                   at::get_num_threads());
}

template <class Layer>
LayerCost cost_of(Layer& layer, const prune::Pruner::Layer& pruned, MachineCache& cache) {
  LayerCost cost;
  cost.layer = pruned.name;
  cost.density = static_cast<double>(pruned.weight.keep) / static_cast<double>(pruned.weight.blocks());
  const Json found = cache.find_or(key_of(pruned, layer.input_shape(), cost.density), [&] {
    const double high = cost.density < 0.4 ? 0.5 : 1.0;
    const double low = std::min(cost.density, 0.9);
    const Times times = time_layer(layer, pruned, low, high);
    return Json{{"dense_ms", times.dense}, {"sparse_ms", times.low}, {"limit", limit_from(times, low, high)}};
  });
  cost.dense_ms = found.at("dense_ms");
  cost.sparse_ms = found.at("sparse_ms");
  cost.limit = found.at("limit");
  return cost;
}

}  // namespace

Calibration calibrate(nn::Model& model, const prune::Pruner& pruner, const at::Tensor& batch) {
  {
    // Shows every layer the size of its input; in evaluation mode, so that no running mean moves.
    const at::NoGradGuard no_grad;
    model.eval();
    model.forward(batch);
    model.train();
  }
  MachineCache cache("execution");
  Calibration out;
  const auto modules = model.named_modules();
  for (const prune::Pruner::Layer& pruned : pruner.layers()) {
    if (!pruned.slot.set_sparse) continue;
    torch::nn::Module& module = *modules[pruned.name];
    if (auto* linear = module.as<nn::LinearImpl>()) {
      out.layers.push_back(cost_of(*linear, pruned, cache));
    } else if (auto* conv = module.as<nn::Conv2dImpl>()) {
      out.layers.push_back(cost_of(*conv, pruned, cache));
    }
  }
  out.note = cache.save();
  return out;
}

prune::DensityLimits limits_of(const Calibration& calibration) {
  prune::DensityLimits limits;
  for (const LayerCost& cost : calibration.layers) {
    if (cost.limit > 0) limits[cost.layer] = cost.limit;
  }
  return limits;
}

std::string describe(const Calibration& calibration) {
  double dense = 0;
  double chosen = 0;
  std::string dense_layers;
  std::string sparse_layers;
  for (const LayerCost& cost : calibration.layers) {
    const bool sparse = cost.limit >= cost.density;
    dense += cost.dense_ms;
    chosen += sparse ? cost.sparse_ms : cost.dense_ms;
    std::string& list = sparse ? sparse_layers : dense_layers;
    list += hewn::str(list.empty() ? "" : ", ", cost.layer);
    if (sparse) list += hewn::str(" (up to density ", cost.limit, ")");
  }
  const auto tenth = [](double ms) { return std::round(ms * 10) / 10; };
  return hewn::str(
      "sparse execution (", calibration.note,
      "): ", sparse_layers.empty() ? "no layer is faster on kept blocks" : "on kept blocks: " + sparse_layers,
      dense_layers.empty() || sparse_layers.empty() ? "" : "; dense: " + dense_layers, "; these layers take ",
      tenth(dense), " ms a step dense, ", tenth(chosen), " ms at the end");
}

}  // namespace hewn::train
