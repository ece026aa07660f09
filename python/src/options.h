#pragma once

#include <map>
#include <string>

#include "hewn/pruner_options.h"

namespace hewn::python {

/// Options of a pruner by the keys that the command line has for them, as text. Throws Error for an unknown
/// key.
PrunerOptions options_from(const std::map<std::string, std::string>& given);

}  // namespace hewn::python
