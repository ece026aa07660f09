#pragma once

#include <nlohmann/json.hpp>

namespace hewn {

/// Keeps the order in which keys were added, so that files read the way they were written.
using Json = nlohmann::ordered_json;

}  // namespace hewn
