#pragma once

namespace hewn::kernels::cuda::block_sparse {

/// Goes round the stages of a pipeline; the parity changes with every round.
template <int kCount>
struct Turn {
  int stage = 0;
  unsigned parity = 0;
  __device__ void next() {
    if (++stage == kCount) {
      stage = 0;
      parity ^= 1;
    }
  }
};

}  // namespace hewn::kernels::cuda::block_sparse
