#pragma once

#include <cstdint>

#include "hewn/data/folders/resample.h"

namespace hewn::data::reference {

/// The formula itself, in double precision, straight from the spans.
void resample(const uint8_t* input, int64_t stride, const ResampleSpan& rows, const ResampleSpan& columns,
              double* out);

}  // namespace hewn::data::reference
