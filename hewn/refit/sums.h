#pragma once

#include <cstdint>

#include "hewn/refit/layers.h"

namespace hewn::refit {

/// What a least-squares fit of a layer's outputs needs to know of its inputs x, which may be those of another
/// network than the one that made the outputs y: sums over samples.
struct Sums {
  double count = 0;
  Matrix xx;  // p x p, whole
  Matrix xy;  // p x K
  Vector x;
  Vector y;
  Vector yy;  // of every output

  Sums(Index inputs, Index outputs);

  /// Mean squared error of x'weight + bias for y, of each output.
  Vector errors(const Matrix& weight, const Vector& bias) const;
};

/// Which rows are looked at: all, or so many of each batch, spread evenly and drawn inside their stretch.
struct Sampling {
  uint64_t seed = 0;
  uint64_t stream = 0;  // a number of the layer
  double share = 1;     // of the rows
};

/// Rows of a layer: samples of its product. An image has one for every pixel that comes out.
int64_t row_count(const Layer& layer, const flow::Tensor& output);

/// Adds the rows of one batch, number `batch`.
void add_rows(const flow::Node& node, const Layer& layer, const flow::Tensor& input,
              const flow::Tensor& output, const Sampling& sampling, uint64_t batch, Sums& sums);

}  // namespace hewn::refit
