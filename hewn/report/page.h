#pragma once

#include <string>

#include "hewn/core/json.h"

namespace hewn::report {

/// The page with the data in it: one HTML file that asks for nothing else. Throws Error where this build has
/// no page (HEWN_WEB).
std::string page_with(const Json& data);
/// The page that gets its data from the server it came from.
std::string live_page();

}  // namespace hewn::report
