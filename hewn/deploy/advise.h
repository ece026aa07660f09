#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hewn/core/grid.h"
#include "hewn/core/json.h"
#include "hewn/deploy/advice_options.h"
#include "hewn/deploy/select/layer_groups.h"
#include "hewn/nn/model.h"

namespace hewn::deploy {

/// The whole model at a block size and a sparsity: the sum over its prunable layers, each in the fastest
/// dense way or, where it is pruned, over kept blocks with activations in panels. What lies between the
/// layers is not counted.
struct Trial {
  BlockShape block;
  double sparsity = 0;
  double sparse_ms = 0;
  double speedup = 1;
  double ideal_ms = 0;  // dense times less the products that are gone
};

/// What holds for a block size at every sparsity.
struct BlockAdvice {
  BlockShape block;
  int64_t layers_pruned = 0;
  std::vector<std::string> layers_skipped;  // they have too few blocks
  std::optional<double> break_even;         // from a straight line through the times; nothing: never
};

struct Advice {
  int64_t batch = 0;
  int64_t threads = 0;
  double dense_ms = 0;
  std::vector<LayerTime> layers;
  std::vector<BlockAdvice> blocks;
  std::vector<Trial> trials;  // block by block
  std::string withheld;       // why times here cannot be compared; empty: they can
  std::string sentence;
};

Json to_json(const Advice& advice);

/// Measures the model's own layers on this machine, with LibTorch's current number of threads.
Advice advise(nn::Model& model, const std::vector<int64_t>& input, const AdviceOptions& options);

/// The least sparsity from which a model of `dense_ms` is faster sparse, for times that lie on a line over
/// the density.
std::optional<double> line_break_even(const std::vector<Trial>& trials, double dense_ms);

}  // namespace hewn::deploy
