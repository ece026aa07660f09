#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hewn/data/kind.h"

namespace hewn::data {

struct RowParts {
  std::vector<int64_t> training;
  std::vector<int64_t> held_out;  // of the part that is asked for
};

struct RowShares {
  double test = 0;
  double validation = 0;
};

/// Divides the rows of a table. Which row goes where follows from the rows' numbers, and from no seed; shares
/// above 0 hold a row at least. Throws Error where nothing is left for a part.
RowParts row_parts(int64_t rows, const RowShares& shares, Part part, const std::string& where);

}  // namespace hewn::data
