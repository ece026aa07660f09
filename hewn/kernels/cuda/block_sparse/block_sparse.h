#pragma once

#include <cstdint>

#include "hewn/core/grid.h"

/// Products of activations with the kept blocks of a weight on a GPU. Activations are row-major, a sample a
/// row; the weight is as a Linear layer holds it, an output a row. All that depends on the support lies in
/// device memory and is made there, so that recorded work can be repeated with another support. Pointers are
/// device memory; work is queued on `stream` (a cudaStream_t) and nothing waits for it.
namespace hewn::kernels::cuda::block_sparse {

/// What is multiplied; sums are single precision always. kTf32: single precision, of which the products see
/// 10 bits of mantissa.
enum class Operand : uint8_t { kBf16, kHalf, kTf32 };
constexpr int64_t bytes_of(Operand type) { return type == Operand::kTf32 ? 4 : 2; }

/// Compute capability of the current device, as 90 for 9.0; 0 where there is none or no kernels were built.
int architecture();

/// How a product is computed: with what every GPU from Ampere on has, or on Hopper, where tiles of 32 and
/// more are multiplied by groups of warps and small ones by single warps.
enum class Way : uint8_t { kAnyGpu, kLargeTiles, kSmallTiles };

/// One product with a weight's kept blocks: samples x weight (y = x W), or with the weight transposed
/// (dx = dy W'). Kept blocks are covered with tiles of `tile` outputs, and what a tile has beyond them is
/// filled with zeros. A sample of a convolution (convolve.h) is what its kernel covers at one place; its
/// input gradient is the convolution of dy with each tap transposed, from the last tap to the first.
struct Product {
  Product(const Grid& grid, Operand type, bool transposed, int64_t taps = 1);

  Grid grid;
  Operand type;
  bool transposed;
  int64_t taps;
  Way way;
  int tile;          // outputs of a tile: 32, 64 or 128; 16 in the way of small tiles
  bool whole_tiles;  // whether blocks consist of square tiles

  int64_t outputs() const { return transposed ? grid.rows / taps : grid.cols; }
  int64_t inputs() const { return transposed ? grid.cols * taps : grid.rows; }
  /// Sizes in bytes of what find_tiles and pack write; both want 256-byte alignment.
  int64_t list_bytes() const;
  int64_t value_bytes() const;
};

/// Lists the tiles that the kept blocks need. `support`: 1 for a kept block, in the grid's order. The lists
/// serve one product at a time: it counts its tasks in them.
void find_tiles(const Product& product, const uint8_t* support, void* lists, void* stream);

/// Single precision, or the product's own type.
enum class Source : uint8_t { kFloat, kOperand };

/// A weight to pack: [cols][rows] of the grid. `gate` multiplies each block; null: none.
struct DenseWeight {
  const void* values;
  Source source;
  const float* gate;
  const uint8_t* support;
};
/// Copies the kept blocks into the order in which the product reads them.
void pack(const Product& product, const DenseWeight& weight, const void* lists, void* values, void* stream);

/// y = activation(x W + bias + residual). Null: none of it. y and the residual are [samples][outputs] of the
/// product's type, the bias single precision.
struct Samples {
  const void* x;
  int64_t samples;
  void* y;
  const float* bias = nullptr;
  const void* residual = nullptr;
  bool relu = false;
};
/// On Hopper pointers must begin at multiples of 16 bytes.
void multiply(const Product& product, const void* lists, const void* values, const Samples& samples,
              void* stream);

}  // namespace hewn::kernels::cuda::block_sparse
