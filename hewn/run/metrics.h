#pragma once

#include <map>
#include <string>

#include "hewn/core/json.h"

namespace hewn::run {

/// Test results by name: loss, accuracy (in percent), and what else the kind of data has. Not a number where
/// a network diverged.
using Metrics = std::map<std::string, double>;

/// JSON has no word for what is not finite: null stands for it. Throws Json::exception for anything else.
Metrics metrics_from(const Json& json);

}  // namespace hewn::run
