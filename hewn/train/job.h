#pragma once

#include "hewn/core/json.h"
#include "hewn/dist/communicator.h"
#include "hewn/train/observer.h"
#include "hewn/train/options.h"
#include "hewn/train/run_folder.h"
#include "hewn/train/task.h"

namespace hewn::train {

/// Trains a network as the options say and fills the run folder `run`. With `resume`, continues from the
/// newest whole checkpoint. With options.compare_dense, trains the dense model first, in run/dense. Returns
/// the content of summary.json. In a group all processes call it; rank 0's options count, it alone sees the
/// run folder, and only it returns something.
Json train(const TrainOptions& options, const RunFolder& run, bool resume, Observer& observer,
           const std::shared_ptr<dist::Communicator>& group = dist::alone());

/// Accuracy of a finished run's model on the test set of its data, or of `data` where that is not empty.
Metrics evaluate_run(const RunFolder& run, const std::string& data, const std::string& device,
                     int64_t threads);

/// The same for a network that was trained elsewhere: options.model with the weights in options.init, on
/// options.data.
Metrics evaluate_weights(const TrainOptions& options);

}  // namespace hewn::train
