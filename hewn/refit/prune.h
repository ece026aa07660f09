#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hewn/core/blocks.h"
#include "hewn/flow/graph.h"

namespace hewn::refit {

enum class Method {
  kMagnitude,  // blocks with the smallest norm become zero, nothing else changes
  kRefit,      // the same blocks; the weights that stay are fitted to the layer's outputs
  kPursuit     // blocks are chosen by what their absence costs the outputs, and the rest fitted
};
/// "magnitude", "refit" or "omp". Throws Error for another.
Method parse_method(const std::string& text);

struct Options {
  Method method = Method::kPursuit;
  BlockShape block = {};
  double sparsity = 0.5;                    // fraction of each layer's blocks to drop, in [0, 1)
  int64_t min_blocks = 100;                 // layers with fewer stay dense
  std::vector<std::string> layers = {"*"};  // patterns of the names of layers that may be pruned
  std::vector<std::string> except = {};     // and of those that may not
  double ridge = 1e-3;     // pull to the weights of before, over the mean square of the layer's inputs
  int64_t rows = 1 << 16;  // samples of a layer's inputs that are looked at; an image has one per pixel
  bool follow = true;      // inputs are those of the network pruned so far; else of the whole one
  uint64_t seed = 1;
  int threads = 1;
  std::function<void(int, int)> progress = {};
};

struct LayerResult {
  std::string name;
  LayerBlocks kept;
  std::string why_dense = {};        // where it was not pruned
  int64_t zero_before = 0;           // blocks that were zero before
  std::optional<double> error = {};  // of its outputs, over their norm; with calibration inputs
};

/// Over the output's norm; of whole numbers how many are others.
struct OutputError {
  double share = 0;
  bool counted = false;
};

struct Result {
  std::vector<LayerResult> layers;
  /// Of each output of the network; with calibration inputs.
  std::vector<OutputError> output_errors;
  /// Constants that have new numbers.
  std::set<int32_t> changed;
};

/// Prunes the graph's constant weights. `batches` are calibration inputs, in the graph's order; only
/// magnitude does without. Throws Error for options that fit no network, and where the graph does not run on
/// a batch.
Result prune_graph(flow::Graph& graph, const Options& options,
                   const std::vector<std::vector<flow::Tensor>>& batches);

}  // namespace hewn::refit
