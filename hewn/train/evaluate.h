#pragma once

#include "hewn/data/source.h"
#include "hewn/dist/communicator.h"
#include "hewn/nn/model.h"
#include "hewn/run/observer.h"

namespace hewn::train {

/// The task's metrics on all held-out data of the source, with the weights that the slots show now. Processes
/// of a group share the work. Throws Stopped, on all of them, where an observer asks for that.
run::Metrics evaluate(nn::Model& model, data::Source& source, dist::Communicator& group,
                      run::Observer& observer);

/// Whether any process of the group says so. All ask at the same place.
bool anyone(bool says, dist::Communicator& group);

}  // namespace hewn::train
