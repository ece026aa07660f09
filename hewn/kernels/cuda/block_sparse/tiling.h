#pragma once

#include <cstdint>

#include "hewn/kernels/cuda/block_sparse/block_sparse.h"

#ifdef __CUDACC__
#define HEWN_BOTH_SIDES __host__ __device__
#else
#define HEWN_BOTH_SIDES
#endif

namespace hewn::kernels::cuda::block_sparse {

// A wide tile is what one thread block sums at a time: 256 outputs, or 128 of large tiles. A chunk is 128
// bytes of inputs, in slices of 32 bytes, what one matrix instruction takes. A piece is a tile's outputs x
// one slice. Piece `slice` of tile j is bit 4 j + slice of the mask of (wide tile, chunk); what it holds
// lies, in the order of bits, from the place that (wide tile, chunk) has in the packed values: places do not
// depend on the support.
constexpr int kChunkBytes = 128;
constexpr int kSliceBytes = 32;
constexpr int kSlices = kChunkBytes / kSliceBytes;
/// Small tiles find more to share in a row of samples that they meet; with large ones two thread blocks run
/// on a multiprocessor, and one writes while the other multiplies.
HEWN_BOTH_SIDES constexpr int wide_of(int tile) { return tile < 64 ? 256 : 128; }

/// Slices that a square block of `tile` has in a chunk.
HEWN_BOTH_SIDES constexpr unsigned slices_of(unsigned tile, unsigned operand) {
  const unsigned slices = tile * operand / kSliceBytes;
  return slices < kSlices ? slices : kSlices;
}

struct Tiling {
  unsigned outputs, inputs;
  unsigned tile, operand;  // operand: bytes
  unsigned wide;           // outputs of a wide tile
  unsigned granule;        // slices that are kept or left out together
  unsigned shared;         // wide tiles in a group
  unsigned wide_tiles;     // a multiple of it
  unsigned chunks;

  explicit Tiling(const Product& product)
      : outputs(static_cast<unsigned>(product.outputs())),
        inputs(static_cast<unsigned>(product.inputs())),
        tile(static_cast<unsigned>(product.tile)),
        operand(static_cast<unsigned>(bytes_of(product.type))),
        wide(static_cast<unsigned>(wide_of(product.tile))),
        granule(product.whole_tiles ? slices_of(tile, operand) : 1),
        shared(static_cast<unsigned>(product.shared)),
        wide_tiles((outputs + wide * shared - 1) / (wide * shared) * shared),
        chunks((inputs * operand + kChunkBytes - 1) / kChunkBytes) {}

  HEWN_BOTH_SIDES unsigned groups() const { return wide_tiles / shared; }
  HEWN_BOTH_SIDES unsigned places() const { return wide_tiles * chunks; }
  HEWN_BOTH_SIDES unsigned place_bytes() const { return wide * kChunkBytes; }
  HEWN_BOTH_SIDES unsigned chunk_inputs() const { return kChunkBytes / operand; }
  HEWN_BOTH_SIDES unsigned slice_inputs() const { return kSliceBytes / operand; }
};

/// Where find_tiles leaves things. For each group of wide tiles: the chunks that any of them needs.
struct Lists {
  unsigned* masks;  // [wide tile][chunk]
  int* counts;      // [group]: chunks listed
  int* listed;      // [group][chunk]

  Lists(void* memory, const Tiling& tiling)
      : masks(static_cast<unsigned*>(memory)),
        counts(reinterpret_cast<int*>(masks + tiling.places())),
        listed(counts + tiling.groups()) {}
};

}  // namespace hewn::kernels::cuda::block_sparse
