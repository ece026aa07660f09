#pragma once

#include "cli/command.h"
#include "hewn/run/options.h"

namespace hewn::cli {

/// Of what was given, the options of a training; a command's own are left out.
Given training_part(const Given& given);

/// What a training with these options would choose for the others: data and model decide on much.
Given training_defaults(const Given& given);

}  // namespace hewn::cli
