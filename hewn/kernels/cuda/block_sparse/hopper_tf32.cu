#include "hewn/kernels/cuda/block_sparse/launch_hopper.cuh"

namespace hewn::kernels::cuda::block_sparse {

void multiply_hopper_tf32(const Product& product, const void* lists, const void* values,
                          const Samples& samples, void* stream) {
  launch_tile<float>(product, {lists, values}, samples, MatrixSource{product, samples}, stream);
}

}  // namespace hewn::kernels::cuda::block_sparse
