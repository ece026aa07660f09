#pragma once

#include <string>
#include <vector>

#include "hewn/prune/layer.h"
#include "hewn/prune/plan.h"

namespace hewn::prune {

/// Gives the places of kept blocks that lie on no path from input to output to the most important blocks of
/// the same layer that do. `chain` names the network's layers in order; nothing is done where it is not a
/// plain chain of planned layers. Waits for the device: once in a training.
void revive(std::vector<Layer>& layers, const Plan& plan, const std::vector<std::string>& chain,
            const Execution& execution);

}  // namespace hewn::prune
