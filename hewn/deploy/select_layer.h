#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "hewn/convex/layer.h"
#include "hewn/run/folder.h"
#include "hewn/train/tasks/task.h"

namespace hewn::deploy {

/// How to prune one layer of a finished run without training it further.
struct SelectLayerOptions {
  std::string layer;
  std::string method = "omp";  // see convex::LayerOptions
  std::string score = "curvature";
  int64_t k = 0;                   // blocks to keep; 0: by the sparsity
  std::optional<double> sparsity;  // auto: the run's own
  std::string block;               // empty: the run's own
  std::optional<double> ridge;     // auto: 1e-4 of the mean square of an input
  bool intercept = true;           // false: the bias stays as it is, where there is one
  bool refit = true;               // false: kept blocks keep their weights
  int64_t samples = 4096;          // of the training data
  std::string device = "cpu";
  int64_t threads = 0;
  std::string out;  // run folder to write; empty: none
};

struct LayerSelection {
  Grid grid;
  int64_t samples = 0;
  int64_t rows = 0;  // inputs of the layer that they gave
  double ridge = 0;
  convex::LayerChoice choice;
  run::Metrics before;  // on the test set
  run::Metrics after;
  double gather_seconds = 0;  // of running the samples
  double choose_seconds = 0;
};

/// Keeps the blocks of a layer that reproduce its outputs on training samples best, with the weights that fit
/// them, and writes the network as a finished run where `out` is given. `progress` is told how many steps of
/// how many are done. Throws Error naming the option that does not fit.
LayerSelection select_layer(const run::Folder& run, const SelectLayerOptions& options,
                            const std::function<void(int, int)>& progress);

}  // namespace hewn::deploy
