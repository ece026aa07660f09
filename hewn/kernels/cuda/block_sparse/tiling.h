#pragma once

#include <algorithm>
#include <cstdint>

#include "hewn/kernels/cuda/block_sparse/block_sparse.h"

#ifdef __CUDACC__
#define HEWN_BOTH_SIDES __host__ __device__
#else
#define HEWN_BOTH_SIDES
#endif

namespace hewn::kernels::cuda::block_sparse {

// A wide tile is what one thread block sums at a time. A chunk is 128 bytes of inputs, or 64, in slices of
// 32, what one matrix instruction takes. A piece is a tile's outputs x one slice. Piece `slice` of tile j is
// bit slices j + slice of the mask of (wide tile, chunk); what it holds lies, in the order of bits, from the
// place that (wide tile, chunk) has in the packed values: places do not depend on the support.
constexpr int kChunkBytes = 128;
constexpr int kSliceBytes = 32;
constexpr int kSlices = kChunkBytes / kSliceBytes;
/// Without Hopper's instructions: small tiles find more to share in a row of samples that they meet.
HEWN_BOTH_SIDES constexpr int wide_of(int tile) { return tile < 64 ? 256 : 128; }
/// With them: a chunk is as long as a tile is wide, where it can be, so that what a tile does not need is not
/// loaded.
constexpr int kLargeWide = 128;
HEWN_BOTH_SIDES constexpr int large_chunk_bytes(int tile) { return tile < 64 ? 64 : kChunkBytes; }

struct Tiling {
  unsigned outputs, inputs;
  unsigned tile, operand;  // operand: bytes
  unsigned wide;           // outputs of a wide tile
  unsigned chunk_bytes;
  unsigned granule;  // slices that are kept or left out together
  unsigned wide_tiles;
  unsigned chunks;

  explicit Tiling(const Product& product)
      : outputs(static_cast<unsigned>(product.outputs())),
        inputs(static_cast<unsigned>(product.inputs())),
        tile(static_cast<unsigned>(product.tile)),
        operand(static_cast<unsigned>(bytes_of(product.type))),
        wide(static_cast<unsigned>(product.way == Way::kLargeTiles ? kLargeWide : wide_of(product.tile))),
        chunk_bytes(static_cast<unsigned>(product.way == Way::kLargeTiles ? large_chunk_bytes(product.tile)
                                                                          : kChunkBytes)),
        granule(product.whole_tiles ? std::min(tile * operand / kSliceBytes, slices()) : 1),
        wide_tiles((outputs + wide - 1) / wide),
        chunks((inputs * operand + chunk_bytes - 1) / chunk_bytes) {}

  HEWN_BOTH_SIDES unsigned slices() const { return chunk_bytes / kSliceBytes; }
  HEWN_BOTH_SIDES unsigned places() const { return wide_tiles * chunks; }
  HEWN_BOTH_SIDES unsigned place_bytes() const { return wide * chunk_bytes; }
  HEWN_BOTH_SIDES unsigned chunk_inputs() const { return chunk_bytes / operand; }
  HEWN_BOTH_SIDES unsigned slice_inputs() const { return kSliceBytes / operand; }
};

/// How far a product is: tasks that were taken, thread blocks that are done. Zeros between products.
struct TaskCount {
  unsigned taken, done;
};

/// Where find_tiles leaves things. For each wide tile: the chunks that it needs.
struct Lists {
  TaskCount* tasks;
  unsigned* masks;  // [wide tile][chunk]
  int* counts;      // [wide tile]: chunks listed
  int* listed;      // [wide tile][chunk]

  Lists(void* memory, const Tiling& tiling)
      : tasks(static_cast<TaskCount*>(memory)),
        masks(reinterpret_cast<unsigned*>(tasks + 1)),
        counts(reinterpret_cast<int*>(masks + tiling.places())),
        listed(counts + tiling.wide_tiles) {}

  static int64_t bytes(const Tiling& tiling) {
    return static_cast<int64_t>(sizeof(TaskCount) + 4 * (2 * size_t{tiling.places()} + tiling.wide_tiles));
  }
};

}  // namespace hewn::kernels::cuda::block_sparse
