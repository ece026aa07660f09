#pragma once

#include "hewn/core/json.h"
#include "hewn/train/observer.h"
#include "hewn/train/options.h"
#include "hewn/train/run_folder.h"
#include "hewn/train/task.h"

namespace hewn::train {

/// Trains a network as the options say and fills the run folder `run`. With `resume`, continues from the
/// newest whole checkpoint. With options.compare_dense, trains the dense model first, in run/dense. Returns
/// the content of summary.json.
Json train(const TrainOptions& options, const RunFolder& run, bool resume, Observer& observer);

/// Accuracy of a finished run's model on the test set of its data, or of `data` where that is not empty.
Metrics evaluate_run(const RunFolder& run, const std::string& data, const std::string& device,
                     int64_t threads);

}  // namespace hewn::train
