#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hewn/core/blocks.h"

namespace hewn::python {

// Plain forms of what passes between Python and C++: a grid is (rows, cols, block rows, block cols, groups),
// kept blocks are {layer: (grid, numbers)}.
using PlainGrid = std::array<int64_t, 5>;
using PlainBlocks = std::map<std::string, std::pair<PlainGrid, std::vector<int64_t>>>;

inline Grid grid_from(const PlainGrid& g) { return {g[0], g[1], {g[2], g[3]}, g[4]}; }
inline PlainGrid plain(const Grid& g) { return {g.rows, g.cols, g.block.rows, g.block.cols, g.groups}; }

inline Blocks blocks_from(const PlainBlocks& given) {
  Blocks out;
  for (const auto& [name, layer] : given) out[name] = LayerBlocks(grid_from(layer.first), layer.second);
  return out;
}

inline PlainBlocks plain(const Blocks& blocks) {
  PlainBlocks out;
  for (const auto& [name, kept] : blocks) out[name] = {plain(kept.grid()), kept.indices()};
  return out;
}

}  // namespace hewn::python
