#pragma once

#include <cstdint>

#include "hewn/kernels/packed.h"
#include "hewn/kernels/planes/plane_runs.h"
#include "hewn/kernels/vector_math.h"

namespace hewn::kernels {

/// A product over planes: one row of numbers for every channel, the pixels of all images of a batch in it,
/// one behind the other. Input and output have their pixels at the same places, so that a convolution's taps
/// are equally far from all of them; what is between the lines comes out as anything. A layer without pixels
/// has samples, or tokens, in their place.
///
///   out[j][p] = sum over taps t and channels c of in[c][p + taps[t]] * weight[t, c][j]
///
/// plus bias[j], plus add[j][p], then max(0, .) where relu is set, then what `then` says.
struct PlaneProduct {
  const Packed* weight = nullptr;
  const PlaneRuns* runs = nullptr;
  const float* in = nullptr;
  int64_t in_stride = 0;
  float* out = nullptr;
  int64_t out_stride = 0;
  const float* bias = nullptr;
  const float* add = nullptr;  // rows out_stride apart; may be `out`
  bool relu = false;
  Activation then{};
  int64_t channels = 0;  // rows of the input
};

/// For the pixels [first, last), and up to seven more to a multiple of kColumnStep, and the tiles [begin,
/// end).
void multiply_planes(const PlaneProduct& product, int64_t first, int64_t last, int64_t begin, int64_t end);

}  // namespace hewn::kernels
