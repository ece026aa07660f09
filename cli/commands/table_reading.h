#pragma once

#include <string>

#include "hewn/io/csv.h"

namespace hewn::cli {

/// "auto", "yes" or "no"; one character or "tab". Throw Error naming the option.
io::Header header_of(const std::string& text);
char separator_of(const std::string& text);
/// A cell of a CSV file in quotes.
std::string quoted_cell(const std::string& text);

}  // namespace hewn::cli
