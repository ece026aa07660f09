#pragma once

#include <vector>

#include "hewn/sweep/expand.h"
#include "hewn/sweep/spec.h"

namespace hewn::cli {

/// What hewn train allows, for a sweep: its options, values it accepts, and networks that have something to
/// prune with them.
sweep::TrainRules train_rules();

/// Fills in the metric that is usual for the data where the file names none. Throws FormatError for one that
/// the data do not have.
void choose_metric(sweep::Spec& spec, const std::vector<sweep::Run>& runs);

}  // namespace hewn::cli
