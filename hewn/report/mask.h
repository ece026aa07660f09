#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/core/grid.h"
#include "hewn/core/json.h"

namespace hewn::report {

std::string base64(std::string_view bytes);

/// What a picture of a layer's blocks needs: {"rows", "cols", "merged", "cells", "low", "high"}.
/// `cells` holds a byte per cell, row by row, in base64. With `merged` 1 a cell is a block: its highest bit
/// says that it is kept, the others where its importance lies between `low` and `high` (both null where there
/// is none). Where the grid has more than `most_cells` blocks, a cell stands for merged x merged of them and
/// its byte for the share that is kept (255: all).
Json picture(const Grid& grid, const std::vector<uint8_t>& kept, const std::vector<float>& importance,
             int64_t most_cells);

/// Kept blocks that were not kept before, over those kept now.
double churn(const std::vector<uint8_t>& before, const std::vector<uint8_t>& now);

}  // namespace hewn::report
