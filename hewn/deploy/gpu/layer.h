#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "hewn/runtime/model_file.h"

namespace hewn::deploy {

/// Which layers run on their kept blocks: those for which a fixed rule of shape, block and density says that
/// it is faster, or all that can.
enum class KeptLayers : uint8_t { kNone, kByRule, kAll };

struct FusedOptions {
  c10::Device device = at::kCPU;
  at::ScalarType type = at::kFloat;  // of weights and activations
  KeptLayers kept = KeptLayers::kNone;
  /// Dense convolutions as fast as LibTorch has them: with bias, sum and ReLU in one pass where cuDNN can,
  /// and over squares of pixels where there are few channels.
  bool tuned = false;
};

/// A layer whose batch norm was folded: activation(layer(x) + residual). The residual may be undefined.
struct FusedLayer {
  std::function<at::Tensor(const at::Tensor& x, const at::Tensor& residual)> run;
  bool on_kept_blocks = false;
};

/// What happens to a layer's result in the same pass.
struct Finish {
  bool relu = false;
  bool residual = false;  // there will be one
};

/// A Linear layer or a convolution. x is rows for the one and channels-last images for the other.
FusedLayer make_layer(const runtime::Node& node, const runtime::Layer& layer, const Finish& finish,
                      const FusedOptions& options);

}  // namespace hewn::deploy
