#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "hewn/deploy/gpu/network.h"
#include "hewn/deploy/random_network.h"
#include "hewn/measure/compare.h"
#include "hewn/measure/network.h"

namespace hewn::deploy {

/// A way to run a network on a GPU.
struct GpuWay {
  std::string name;
  std::function<at::Tensor(const at::Tensor& prepared)> run;
};

/// The network as it is, channels-last in bf16, batch norms by themselves: what LibTorch's users run.
GpuWay plain_way(const RandomNetwork& network, c10::Device device);

/// What the comparison says besides times.
struct GpuComparison {
  measure::Comparison times;
  std::vector<std::string> on_kept_blocks;  // layers
};

/// Times a network in bf16 on a GPU, pruned layers on kept blocks by rule, against the fastest dense way:
/// `more` ways, and the same network with batch norms folded and dense weights. Every way is a recorded CUDA
/// graph; they take turns, with inputs that rotate. Throws Error where results differ.
GpuComparison compare_on_gpu(const runtime::ModelData& model, const measure::NetworkOptions& options,
                             c10::Device device, const std::vector<GpuWay>& more = {});

}  // namespace hewn::deploy
