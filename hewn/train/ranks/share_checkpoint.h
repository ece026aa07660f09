#pragma once

#include <optional>

#include "hewn/dist/communicator.h"
#include "hewn/train/checkpoint.h"

namespace hewn::train {

/// Rank 0's checkpoint, or its having none, on every process: the others need no access to the run folder.
std::optional<Checkpoint> share_checkpoint(const std::optional<Checkpoint>& own, dist::Communicator& group);

}  // namespace hewn::train
