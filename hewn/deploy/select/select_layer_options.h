#pragma once

#include <cstdint>
#include <optional>
#include <string>

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

}  // namespace hewn::deploy
