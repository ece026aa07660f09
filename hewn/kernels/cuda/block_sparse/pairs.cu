#include "hewn/kernels/cuda/block_sparse/pairs.h"

#include "hewn/kernels/cuda/launch.cuh"

namespace hewn::kernels::cuda::block_sparse {
namespace {

/// A warp for each row of tiles.
__global__ void list_kernel(Pairs pairs, Layout layout, const uint8_t* support) {
  const unsigned out = blockIdx.x * kSide;
  const unsigned last_out = min(out + kSide, layout.cols) - 1;
  int count = 0;
  for (unsigned first = 0; first < pairs.cols; first += 32) {
    const unsigned col = first + threadIdx.x;
    bool kept = false;
    if (col < pairs.cols) {
      const unsigned last = (min(col * kSide + kSide, layout.rows) - 1) / layout.block_rows;
      for (unsigned r = col * kSide / layout.block_rows; r <= last && !kept; ++r) {
        for (unsigned c = layout.col_block_of(out); c <= layout.col_block_of(last_out) && !kept; ++c) {
          kept = support[r * layout.col_blocks + c] != 0;
        }
      }
    }
    const unsigned bits = __ballot_sync(~0u, kept);
    const int before = __popc(bits & ((1u << threadIdx.x) - 1));
    if (kept) pairs.listed[blockIdx.x * pairs.cols + count + before] = static_cast<int>(col);
    count += __popc(bits);
  }
  if (threadIdx.x == 0) pairs.counts[blockIdx.x] = count;
}

/// One thread: rows of tiles are few. A row's groups are as equal as can be.
__global__ void group_kernel(Pairs pairs, int most) {
  int total = 0;
  for (unsigned row = 0; row < pairs.rows; ++row) {
    const int count = pairs.counts[row];
    const int groups = (count + kTogether - 1) / kTogether;
    for (int g = 0; g < groups && total < most; ++g) {
      const auto first = static_cast<unsigned>(count * g / groups);
      const auto last = static_cast<unsigned>(count * (g + 1) / groups);
      pairs.groups[total++] = {row, first, last - first};
    }
  }
  *pairs.group_count = total;
}

}  // namespace

void find_pairs(const WeightGradient& gradient, const uint8_t* support, void* lists, void* stream) {
  const Pairs pairs(gradient.grid, lists);
  list_kernel<<<pairs.rows, 32, 0, as_stream(stream)>>>(pairs, Layout(WeightLayout{gradient.grid, 1}),
                                                        support);
  group_kernel<<<1, 1, 0, as_stream(stream)>>>(pairs, static_cast<int>(most_groups(gradient)));
  check_launch("block_sparse::find_pairs");
}

}  // namespace hewn::kernels::cuda::block_sparse
