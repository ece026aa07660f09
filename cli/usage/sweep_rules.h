#pragma once

#include "hewn/sweep/spec.h"

namespace hewn::cli {

/// What hewn train allows, for a sweep: its options and the values that they accept.
sweep::TrainRules option_rules();

}  // namespace hewn::cli
