#pragma once

#include <string>

#include "hewn/convex/select.h"
#include "hewn/core/json.h"

namespace hewn::cli {

/// What `hewn select` found in a table, as JSON and as text.
Json selection_json(const std::string& method, const convex::Dataset& data, const convex::Selection& found,
                    double seconds);
void print_selection(const convex::Dataset& data, const convex::Selection& found, double seconds);

}  // namespace hewn::cli
