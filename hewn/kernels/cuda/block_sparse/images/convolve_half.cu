#include "hewn/kernels/cuda/block_sparse/launch_hopper.cuh"

namespace hewn::kernels::cuda::block_sparse {

void convolve_hopper_half(const Product& product, const Images& images, const void* lists, const void* values,
                          const Samples& samples, void* stream) {
  launch_tile<__half>(product, {lists, values}, samples, ImageSource{product, images, samples.x}, stream);
}

}  // namespace hewn::kernels::cuda::block_sparse
