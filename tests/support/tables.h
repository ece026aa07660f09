#pragma once

#include <cstdint>
#include <string>

namespace hewn::test {

/// A table whose column y is a smooth function of the first three of 10 columns x0, ..., in units of
/// hundreds: text of a CSV file with a header. Rows differ by their numbers, which begin at `first`.
std::string regression_table(int64_t rows, int64_t first = 0);

}  // namespace hewn::test
