#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "hewn/measure/compare.h"
#include "hewn/runtime/model_file.h"

namespace hewn::measure {

/// What is kept of a network.
struct NetworkFacts {
  double density = 1;  // multiply-adds of one sample over those of the dense network
  int64_t kept_blocks = 0;
  int64_t blocks = 0;
  int64_t dense_bytes = 0;          // of all parameters as 32-bit floats
  std::optional<BlockShape> block;  // of the layers that lost blocks, where it is the same
  std::optional<double> sparsity;   // blocks that these layers lost, over all they had
};
NetworkFacts facts_of(const runtime::ModelData& model);

/// Batch x channels x height x width, uniform in [-1, 1), or numbers of values: all equally likely, which is
/// harder on caches than a click log.
at::Tensor draw_samples(const runtime::ModelData& model, int64_t batch, uint64_t seed);

struct NetworkOptions {
  int64_t batch = 256;
  int64_t rounds = 15;  // fewer where a call takes long
  uint64_t seed = 0;    // of the samples
};

/// Dense ways beside those of the graph, for samples in NCHW; numbers of values are floats too.
using MoreWays = std::function<std::vector<Contender>(const at::Tensor& samples)>;

/// Times the runtime against the fastest dense way, with LibTorch's current number of threads. Throws Error
/// where the results differ.
Comparison compare(const runtime::ModelData& model, const NetworkOptions& options, const MoreWays& more = {});

}  // namespace hewn::measure
