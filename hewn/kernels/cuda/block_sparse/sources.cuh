#pragma once

#include "hewn/kernels/cuda/block_sparse/hopper.cuh"
#include "hewn/kernels/cuda/block_sparse/images/convolve.h"

/// Where the copy engine finds the samples of a task, and a chunk of their inputs.
namespace hewn::kernels::cuda::block_sparse {

/// A sample is a row of a matrix.
struct MatrixRows {
  struct Start {
    int row;
  };
  __device__ Start start_of(unsigned sample) const { return {static_cast<int>(sample)}; }
  __device__ unsigned place_of(unsigned chunk) const { return chunk; }
  template <int kInputs>
  __device__ void load(uint32_t to, const CUtensorMap* map, Start start, unsigned place,
                       uint32_t barrier) const {
    load_box<false>(to, map, static_cast<int>(place) * kInputs, start.row, barrier, 0);
  }
};

/// A sample is what a convolution's kernel covers at one output pixel, and a chunk some channels of one tap.
struct KernelWindows {
  unsigned out_width, image_pixels;  // image_pixels: output pixels of an image
  unsigned stride, padding, dilation, kernel_width;
  unsigned tap_chunks;

  KernelWindows(const Product& product, const Images& images, int64_t chunk_inputs)
      : out_width(static_cast<unsigned>(images.out_width())),
        image_pixels(static_cast<unsigned>(images.out_height() * images.out_width())),
        stride(static_cast<unsigned>(images.geometry.stride)),
        padding(static_cast<unsigned>(images.geometry.padding)),
        dilation(static_cast<unsigned>(images.geometry.dilation)),
        kernel_width(static_cast<unsigned>(images.geometry.kernel_width)),
        tap_chunks(static_cast<unsigned>(product.inputs() / images.geometry.taps() / chunk_inputs)) {}

  /// Where the first tap of a sample lies.
  struct Start {
    int x, y, image;
  };
  __device__ Start start_of(unsigned sample) const {
    const unsigned pixel = sample % image_pixels;
    return {static_cast<int>(pixel % out_width * stride) - static_cast<int>(padding),
            static_cast<int>(pixel / out_width * stride) - static_cast<int>(padding),
            static_cast<int>(sample / image_pixels)};
  }
  /// Of how many chunks of channels it lies behind, and how far from the first tap, in a word.
  __device__ unsigned place_of(unsigned chunk) const {
    const unsigned tap = chunk / tap_chunks;
    return chunk % tap_chunks | tap % kernel_width * dilation << 16 | tap / kernel_width * dilation << 24;
  }
  template <int kInputs>
  __device__ void load(uint32_t to, const CUtensorMap* map, Start start, unsigned place,
                       uint32_t barrier) const {
    load_window(to, map, {static_cast<int>(place & 0xFFFF) * kInputs, start.x, start.y, start.image},
                {static_cast<uint16_t>(place >> 16 & 0xFF), static_cast<uint16_t>(place >> 24)}, barrier);
  }
};

}  // namespace hewn::kernels::cuda::block_sparse
