#pragma once

#include "hewn/kernels/conv_geometry.h"
#include "hewn/kernels/cuda/block_sparse/block_sparse.h"

/// Convolutions with the kept blocks of a weight on a GPU. Images are channels-last: pixel by pixel, the
/// channels side by side. The weight is so too, [output][tap][channel], as a matrix of blocks has it.
namespace hewn::kernels::cuda::block_sparse {

/// What a convolution reads.
struct Images {
  int64_t count, height, width;
  ConvGeometry geometry;

  int64_t out_height() const { return geometry.out_size(height, geometry.kernel_height); }
  int64_t out_width() const { return geometry.out_size(width, geometry.kernel_width); }
  int64_t out_pixels() const { return count * out_height() * out_width(); }
};

/// The convolution of dy that a convolution's input gradient is; `product` of it is transposed. Nothing where
/// it is none: with strides, and where the two directions need different padding.
bool has_gradient_geometry(const ConvGeometry& geometry);
ConvGeometry gradient_geometry(const ConvGeometry& geometry);

/// Whether convolve can do it. Kernels of one pixel and stride 1 are products of rows on any GPU that has
/// those. The others want Hopper, tiles of 32 and more in bf16 or half, and channels in whole chunks, so that
/// a chunk lies in one tap.
bool takes_convolution(const Product& product, const ConvGeometry& geometry);

/// `samples` are the output pixels of all images in a row; samples.x are the images. `lists` and `values` are
/// those of find_tiles and pack.
void convolve(const Product& product, const Images& images, const void* lists, const void* values,
              const Samples& samples, void* stream);

}  // namespace hewn::kernels::cuda::block_sparse
