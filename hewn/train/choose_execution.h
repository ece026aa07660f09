#pragma once

#include "hewn/run/observer.h"
#include "hewn/train/workshop.h"

namespace hewn::train {

/// Decides which layers run on kept blocks only, tells the pruner, and writes the choice into the options.
void choose_execution(Workshop& shop, run::Observer& observer);

}  // namespace hewn::train
