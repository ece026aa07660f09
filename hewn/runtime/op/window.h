#pragma once

#include "hewn/runtime/op/operator.h"

namespace hewn::runtime {

// What ops share that slide a window over an image.

/// The shape behind a window that slides over `in`; throws Error where it is larger.
Shape slide(const kernels::ConvGeometry& window, const Shape& in, int64_t channels);

void read_window(const ObjectReader& reader, Node& node);
void write_window(const Node& node, Json& json);

}  // namespace hewn::runtime
