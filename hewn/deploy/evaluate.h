#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hewn/run/folder.h"
#include "hewn/run/metrics.h"
#include "hewn/run/observer.h"

namespace hewn::deploy {

struct Evaluated {
  data::Part part = data::Part::kTest;
  run::Metrics metrics;
  std::vector<std::string> on_kept_blocks = {};  // layers that ran on their kept blocks alone: on a GPU
};

/// How well a finished run's model does on the held-out part of its data that it was evaluated on, or of the
/// data that are given (of another table all rows count), on their device and threads. On a GPU it computes
/// in the given precision, or the run's own where that is empty.
Evaluated evaluate_run(const run::Folder& run, const run::Options& given, run::Observer& observer);

/// The same for a network that was trained elsewhere: options.model with the weights in options.init, on
/// options.data. The observer hears what was taken from a checkpoint.
Evaluated evaluate_weights(const run::Options& options, run::Observer& observer);

}  // namespace hewn::deploy
