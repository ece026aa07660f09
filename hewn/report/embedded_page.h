#pragma once

#include <string_view>

namespace hewn::report {

/// The page of web/ as it was built, without data; empty in a build without it.
std::string_view embedded_page();

}  // namespace hewn::report
