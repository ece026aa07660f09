#pragma once

#include <cstdint>
#include <string>

#include "hewn/run/folder.h"
#include "hewn/run/metrics.h"
#include "hewn/run/observer.h"

namespace hewn::deploy {

/// How well a finished run's model does on the test set of its data, or of `data` where that is not empty; of
/// another table all rows count.
run::Metrics evaluate_run(const run::Folder& run, const std::string& data, const std::string& device,
                          int64_t threads);

/// The same for a network that was trained elsewhere: options.model with the weights in options.init, on
/// options.data. The observer hears what was taken from a checkpoint.
run::Metrics evaluate_weights(const run::Options& options, run::Observer& observer);

}  // namespace hewn::deploy
