#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace hewn::cli {

/// Prints rows in aligned columns; the first row is the header. Columns after the first are aligned to the
/// right where `right` says so.
void print_table(std::ostream& out, std::vector<std::vector<std::string>> rows,
                 const std::vector<bool>& right);

/// 0.9 -> "90.0 %".
std::string percent(double fraction);
/// A number with so many digits behind the point.
std::string fixed(double value, int digits);
/// A number with six significant digits.
std::string short_number(double value);
/// 1860000 -> "1.86 M".
std::string count_text(int64_t count);
/// Seconds as "1:05" or "2:01:05".
std::string clock_text(double seconds);

/// A metric with the digits and the unit that are usual for it.
std::string metric_text(const std::string& name, double value);

/// A word of a shell's command line, in quotes where it needs them.
std::string shell_word(const std::string& text);

/// A name that may come from a file: with control characters it is shown as JSON, on one line.
std::string plain_text(const std::string& name);

}  // namespace hewn::cli
