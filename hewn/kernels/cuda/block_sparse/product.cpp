#include "hewn/kernels/cuda/block_sparse/images/convolve.h"
#include "hewn/kernels/cuda/block_sparse/pairs.h"
#include "hewn/kernels/cuda/block_sparse/small_tiling.h"

#include <algorithm>
#include <cmath>

namespace hewn::kernels::cuda::block_sparse {
namespace {

// Up to this density the gradient at kept blocks was the faster one on an H200 (docs/benchmarks.md).
constexpr double kGradientLimit = 0.32;

// What the copy engine can go through: steps, and pixels beyond the edges or between taps.
constexpr int64_t kMostStride = 8;
constexpr int64_t kMostReach = 127;

/// Whether no square tile of that side lies in two blocks.
bool fits(const Grid& grid, int side) {
  return grid.block.rows % side == 0 && grid.block.cols % side == 0 &&
         (grid.groups == 1 || grid.group_cols() % side == 0);
}

/// Hopper's copy engine wants rows that are multiples of 16 bytes.
bool has_even_rows(const Product& product) {
  return product.inputs() * bytes_of(product.type) % 16 == 0 && product.outputs() % 8 == 0;
}

Way way_of(const Product& product) {
  if (architecture() != 90 || !has_even_rows(product)) return Way::kAnyGpu;
  return fits(product.grid, 32) ? Way::kLargeTiles : Way::kSmallTiles;
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

Product::Product(const Grid& grid_, Operand type_, bool transposed_, int64_t taps_)
    : grid(grid_),
      type(type_),
      transposed(transposed_),
      taps(taps_),
      way(way_of(*this)),
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

bool has_gradient_geometry(const ConvGeometry& g) {
  return g.stride == 1 && g.kernel_height == g.kernel_width &&
         g.padding <= g.dilation * (g.kernel_height - 1);
}

ConvGeometry gradient_geometry(const ConvGeometry& g) {
  ConvGeometry turned = g;
  turned.padding = g.dilation * (g.kernel_height - 1) - g.padding;
  return turned;
}

bool takes_convolution(const Product& product, const ConvGeometry& g) {
  if (g.is_pointwise()) return true;
  if (product.way != Way::kLargeTiles || product.type == Operand::kTf32 || product.grid.groups != 1) {
    return false;
  }
  const int64_t reach = g.dilation * (std::max(g.kernel_height, g.kernel_width) - 1);
  const int64_t channels = product.inputs() / g.taps();
  return (product.transposed ? product.taps == g.taps() : product.inputs() % g.taps() == 0) &&
         channels % Tiling(product).chunk_inputs() == 0 && g.stride <= kMostStride &&
         g.padding <= kMostReach && reach <= kMostReach;
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
