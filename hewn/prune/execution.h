#pragma once

#include <map>
#include <string>

#include "hewn/prune/pruner.h"

namespace hewn::prune {

/// For each layer that may run on its kept blocks only: the largest density at which it does.
using DensityLimits = std::map<std::string, double>;

/// Reads "off", "on" (every layer that can, at any density) or "LAYER:DENSITY,..."; writes the last form, or
/// "off".
DensityLimits parse_limits(const std::string& text, const Pruner& pruner);
std::string to_text(const DensityLimits& limits);

/// The rule where nobody says otherwise: a layer runs on its kept blocks alone up to a density that its block
/// and its size decide. A rule and no measurement, since the two ways round differently: what chooses between
/// them decides a run's numbers. Empty where the kernels have no vector instructions.
DensityLimits usual_limits(const Pruner& pruner);
/// The same for one layer; 0: never.
double usual_limit(const Grid& grid);

/// The same for a Linear layer on a GPU that is not trained any more, where lists and packed weights are made
/// once, and for a convolution there.
double usual_inference_limit_on_device(const Grid& grid);
double usual_conv_inference_limit_on_device(const Grid& grid);

Execution execution_of(const DensityLimits& limits);

}  // namespace hewn::prune
