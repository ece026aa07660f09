#include "hewn/kernels/cuda/block_sparse/pairs.h"
#include "hewn/kernels/cuda/block_sparse/small_tiling.h"

#include <cmath>

namespace hewn::kernels::cuda::block_sparse {
namespace {

// Up to this density the gradient at kept blocks was the faster one on an H200 (docs/benchmarks.md).
constexpr double kGradientLimit = 0.32;

/// Whether no square tile of that side lies in two blocks.
bool fits(const Grid& grid, int side) {
  return grid.block.rows % side == 0 && grid.block.cols % side == 0 &&
         (grid.groups == 1 || grid.group_cols() % side == 0);
}

/// Hopper's copy engine wants rows that are multiples of 16 bytes.
bool has_even_rows(const Grid& grid, Operand type, bool transposed) {
  const int64_t inputs = transposed ? grid.cols : grid.rows;
  const int64_t outputs = transposed ? grid.rows : grid.cols;
  return inputs * bytes_of(type) % 16 == 0 && outputs % 8 == 0;
}

Way way_of(const Grid& grid, Operand type, bool transposed) {
  if (architecture() != 90 || !has_even_rows(grid, type, transposed)) return Way::kAnyGpu;
  return fits(grid, 32) ? Way::kLargeTiles : Way::kSmallTiles;
}

/// The largest tile that fits; the smallest if there is none.
int tile_of(const Grid& grid, Way way) {
  for (const int tile : {128, 64, 32}) {
    if (fits(grid, tile)) return tile;
  }
  return way == Way::kSmallTiles ? 16 : 32;
}

/// What was fastest on an H200: few tiles want more parts, or multiprocessors would have nothing to do.
int parts_for(const Grid& grid, int64_t kept_tiles) {
  const int64_t tiles = int64_t{tiles_in(grid.rows)} * tiles_in(grid.cols);
  return kept_tiles * 14 < tiles ? 4 : 3;
}

}  // namespace

Product::Product(const Grid& grid_, Operand type_, bool transposed_)
    : grid(grid_),
      type(type_),
      transposed(transposed_),
      way(way_of(grid_, type_, transposed_)),
      tile(tile_of(grid_, way)),
      whole_tiles(fits(grid_, tile)) {}

int64_t Product::list_bytes() const {
  return way == Way::kSmallTiles ? SmallLists::bytes(SmallTiling(*this)) : Lists::bytes(Tiling(*this));
}

int64_t Product::value_bytes() const {
  if (way == Way::kSmallTiles) {
    const SmallTiling tiling(*this);
    return static_cast<int64_t>(tiling.place_bytes() * tiling.tiles);
  }
  const Tiling tiling(*this);
  return int64_t{tiling.place_bytes()} * tiling.places();
}

WeightGradient::WeightGradient(const Grid& grid_, Operand type_, int64_t kept_tiles_, int64_t samples_)
    : grid(grid_),
      type(type_),
      kept_tiles(kept_tiles_),
      samples(samples_),
      parts(parts_for(grid_, kept_tiles_)) {}

int64_t WeightGradient::list_bytes() const {
  const int64_t rows = tiles_in(grid.cols);
  return 4 * (rows + rows * tiles_in(grid.rows) + 1) +
         static_cast<int64_t>(sizeof(Group)) * most_groups(*this);
}
int64_t WeightGradient::sum_bytes() const {
  return int64_t{4} * parts * most_groups(*this) * kTogether * kTileFloats;
}

int64_t gradient_tiles(const Grid& grid, double density) {
  const auto blocks = static_cast<int64_t>(std::ceil(density * static_cast<double>(grid.blocks())));
  return blocks * (grid.block.rows / kSide) * (grid.block.cols / kSide);
}

bool prefers_grad_weight(const Grid& grid, Operand type, double density) {
  const bool filled = grid.block.rows % kSide == 0 && grid.block.cols % kSide == 0 && grid.groups == 1;
  return architecture() == 90 && filled && type != Operand::kTf32 && grid.rows % 8 == 0 &&
         grid.cols % 8 == 0 && density <= kGradientLimit;
}

}  // namespace hewn::kernels::cuda::block_sparse
