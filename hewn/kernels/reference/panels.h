#pragma once

#include <cstdint>

#include "hewn/kernels/panels.h"

namespace hewn::kernels::reference {

void pack_panels(const PanelShape& shape, const float* samples, float* panels, int64_t begin, int64_t end);
void unpack_panels(const PanelShape& shape, const float* panels, float* samples, int64_t begin, int64_t end);
void pack_images(const PanelShape& shape, const ImageShape& image, bool channels_last, const float* samples,
                 float* panels, int64_t begin, int64_t end);
void unpack_images(const PanelShape& shape, const ImageShape& image, bool channels_last, const float* panels,
                   float* samples, int64_t begin, int64_t end);
void pack_image(const ImageShape& image, const float* sample, float* column);
void unpack_image(const ImageShape& image, const float* column, float* sample);

}  // namespace hewn::kernels::reference
