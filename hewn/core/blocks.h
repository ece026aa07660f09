#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/core/grid.h"

namespace hewn {

/// The kept blocks of one layer: its grid, and numbers of blocks in it, growing.
class LayerBlocks {
 public:
  LayerBlocks() = default;
  /// Throws Error, without a layer's name, for a block that is outside the grid or there twice.
  LayerBlocks(const Grid& grid, std::vector<int64_t> kept);
  /// From one flag per block, not 0 where it is kept.
  static LayerBlocks of_flags(const Grid& grid, std::span<const uint8_t> flags);
  static LayerBlocks all_of(const Grid& grid);

  const Grid& grid() const { return grid_; }
  const std::vector<int64_t>& indices() const { return kept_; }
  int64_t kept() const { return static_cast<int64_t>(kept_.size()); }
  double density() const { return static_cast<double>(kept()) / static_cast<double>(grid_.blocks()); }
  /// Elements of the weight inside kept blocks.
  int64_t elements() const;
  /// 0 or 1 per block.
  std::vector<uint8_t> flags() const;
  /// A bit per block, the first in the lowest bit of the first byte; and back.
  std::vector<uint8_t> bits() const;
  static LayerBlocks of_bits(const Grid& grid, std::span<const uint8_t> bits);

  bool operator==(const LayerBlocks&) const = default;

 private:
  Grid grid_;
  std::vector<int64_t> kept_;
};

/// The kept blocks of a network: of every pruned layer, by name. Layers that are not named are dense.
using Blocks = std::map<std::string, LayerBlocks>;

/// The grid of a layer whose file gives only the size of blocks. Throws where it has no such layer.
using GridOf = std::function<Grid(const std::string& layer, const BlockShape& block)>;

/// As JSON, for a file's metadata (`hewn.blocks`; docs/formats.md), and back. Files written before grids were
/// part of it are read with the help of `grid_of`. Throws FormatError naming `where`.
std::string to_text(const Blocks& blocks);
Blocks parse_blocks(const std::string& text, const std::string& where, const GridOf& grid_of);

}  // namespace hewn
