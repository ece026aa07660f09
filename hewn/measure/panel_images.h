#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cstdint>
#include <vector>

#include "hewn/kernels/conv.h"

namespace hewn::measure {

/// Images in panels.
struct PanelImages {
  kernels::PanelShape shape;
  kernels::ImageShape image;
  std::vector<float> panels;

  PanelImages(int64_t batch, const kernels::ImageShape& extents)
      : shape{batch, extents.rows()}, image(extents), panels(static_cast<size_t>(shape.floats())) {}

  void pack(const float* samples) {
    at::parallel_for(0, shape.panels(), 1, [&](int64_t begin, int64_t end) {
      kernels::pack_images(shape, image, false, samples, panels.data(), begin, end);
    });
  }
  void unpack(float* samples) const {
    at::parallel_for(0, shape.panels(), 1, [&](int64_t begin, int64_t end) {
      kernels::unpack_images(shape, image, false, panels.data(), samples, begin, end);
    });
  }
  at::Tensor samples() const {
    at::Tensor out = at::empty({shape.batch, image.channels, image.height, image.width});
    unpack(out.data_ptr<float>());
    return out;
  }
};

}  // namespace hewn::measure
