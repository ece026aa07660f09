#pragma once

#include "hewn/dist/communicator.h"
#include "hewn/run/folder.h"
#include "hewn/run/observer.h"
#include "hewn/run/summary.h"

namespace hewn::train {

/// Trains a network as the options say and fills the run folder `run`. With `resume`, continues from the
/// newest whole checkpoint of the run that must be there. With options.compare_dense, or where it is
/// the teacher, trains the dense model first, in run/dense. Returns how it ended, as in summary.json. In a
/// group all processes call it; rank 0's options count, it alone sees the run folder, and only it returns
/// something. Throws run::Stopped where the observer asks it to stop: with `resume` it goes on from there to
/// the same bits.
run::Summary train(const run::Options& options, const run::Folder& run, bool resume, run::Observer& observer,
                   const std::shared_ptr<dist::Communicator>& group = dist::alone());

}  // namespace hewn::train
