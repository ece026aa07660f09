#pragma once

#include "cli/command.h"
#include "hewn/run/options.h"

namespace hewn::cli {

/// Of what was given, the options of a training; a command's own are left out.
Given training_part(const Given& given);

/// What a training with these options would choose for the others: data and model decide on much.
Given training_defaults(const Given& given);

/// Throws Error for a model or a data set that is not known; no data set is the model's usual one.
void check_known(const std::string& model, const std::string& data);

}  // namespace hewn::cli
