#pragma once

#include <vector>

#include "hewn/flow/lower/axis_view.h"

namespace hewn::flow {

/// Something that happens to scores before the softmax.
struct MaskOfScores {
  int32_t value = kNone;  // floats that are added, or which scores stay
  bool kept = true;
  float instead = 0;
};

/// softmax(scale q k', masked) v for one matrix or many, spelt out by a framework. Views end in the
/// dimensions of a matrix: q in queries x features, k in features x keys, v in keys x values.
struct FoundAttention {
  int32_t softmax = kNone;  // nodes
  int32_t product = kNone;  // the last one: with v
  float scale = 1;
  std::vector<MaskOfScores> masks;
  AxisView q, k, v;
  int32_t out = kNone;  // the value that is made, of what the product makes by moving numbers
  AxisView out_view;    // its source is what the product makes
};

}  // namespace hewn::flow
