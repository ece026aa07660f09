#include "hewn/prune/execution.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/options.h"
#include "hewn/kernels/cuda/block_sparse/block_sparse.h"
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

// On an H200, bf16, 4096 x 4096 weights and 8192 samples (docs/benchmarks.md): densities below which forward
// pass, input gradient, weight gradient and the lists that every step makes took together less time than the
// dense products. Layers of 2.4 million weights gained nothing after that, those of 16.8 million did.
constexpr double kDeviceLimit128 = 0.4;
constexpr double kDeviceLimit64 = 0.3;
constexpr double kDeviceLimit16 = 0.15;
constexpr int64_t kFewOnDevice = int64_t{1} << 23;

// The product alone, 8192 samples and more: layers of 2.4 and of 1 million weights with blocks of 64 were
// ahead by half at 0.2, layers of 16.8 million with blocks of 16 and 32 by a fifth.
constexpr double kInferenceLimit64 = 0.4;
constexpr double kInferenceLimit16 = 0.2;
constexpr int64_t kFewInInference = int64_t{1} << 20;

// Convolutions on it, ResNet-50 at batch 256 and density 0.1, against cuDNN: with lists made in every step,
// kernels of 3 x 3 with blocks of 64 gained a third to a half in the forward pass and the input gradient,
// those of one pixel next to nothing.
constexpr double kConvLimit64 = 0.15;
constexpr int64_t kFewInConv = int64_t{1} << 17;

// The product alone, with bias, sum and ReLU in the same pass, against LibTorch's passes one after the other:
// layers of all shapes took half of the time, and less, with blocks of 64, and up to two thirds with 32.
constexpr double kConvInferenceLimit64 = 0.3;
constexpr double kConvInferenceLimit32 = 0.2;
constexpr int64_t kFewInConvInference = int64_t{1} << 12;

bool divides(const Grid& grid, int64_t side) {
  return grid.block.rows % side == 0 && grid.block.cols % side == 0;
}

/// Measured nowhere but on Hopper.
bool is_for_device(const Grid& grid) {
  return kernels::cuda::block_sparse::architecture() == 90 && grid.rows % 8 == 0 && grid.cols % 8 == 0;
}

double usual_limit_on_device(const Grid& grid) {
  if (!is_for_device(grid) || grid.elements() < kFewOnDevice) return 0;
  if (divides(grid, 128)) return kDeviceLimit128;
  if (divides(grid, 64)) return kDeviceLimit64;
  return divides(grid, 16) ? kDeviceLimit16 : 0;
}

double usual_conv_limit_on_device(const Grid& grid) {
  return is_for_device(grid) && divides(grid, 64) && grid.elements() >= kFewInConv ? kConvLimit64 : 0;
}

/// Up to which density a layer trains on its kept blocks, where it lies; 0: never.
double limit_of(const Pruner::Layer& layer) {
  const Grid& grid = layer.weight.layout.grid;
  if (!layer.weight.leaf.is_cuda()) return layer.slot.set_sparse ? usual_limit(grid) : 0;
  if (!layer.slot.set_kept || !layer.slot.takes_kept(grid)) return 0;
  const at::Tensor& leaf = layer.weight.leaf;
  if (leaf.dim() != 4) return usual_limit_on_device(grid);
  return leaf.size(2) * leaf.size(3) > 1 ? usual_conv_limit_on_device(grid) : 0;
}

}  // namespace

double usual_limit(const Grid& grid) {
  if (std::string_view(kernels::machine().name) == "portable") return 0;
  const int64_t side = std::min(grid.block.rows, grid.block.cols);
  if (side < kSmallSide || grid.elements() < kFewWeights) return 0;
  return side < kLargeSide ? kSmallLimit : kLargeLimit;
}

double usual_inference_limit_on_device(const Grid& grid) {
  if (!is_for_device(grid)) return 0;
  if (divides(grid, 64)) return grid.elements() >= kFewInInference ? kInferenceLimit64 : 0;
  return divides(grid, 16) && grid.elements() >= kFewOnDevice ? kInferenceLimit16 : 0;
}

double usual_conv_inference_limit_on_device(const Grid& grid) {
  if (!is_for_device(grid) || grid.elements() < kFewInConvInference) return 0;
  if (divides(grid, 64)) return kConvInferenceLimit64;
  return divides(grid, 32) ? kConvInferenceLimit32 : 0;
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
    const double limit = limit_of(layer);
    if (limit > 0) limits[layer.name] = limit;
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
