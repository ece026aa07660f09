#pragma once

#include <cmath>

#include "hewn/convex/problem.h"
#include "hewn/core/random.h"

namespace hewn::convex {

/// Repeatable numbers that look like standard normal ones.
inline Matrix normal(Index rows, Index cols, uint64_t seed) {
  Matrix out(rows, cols);
  for (Index i = 0; i < out.size(); ++i) {
    const auto words = draw(seed, Stream::kSynthetic, 0, static_cast<uint64_t>(i));
    const double radius = std::sqrt(-2 * std::log(1 - unit(words[0])));
    out.data()[i] = radius * std::cos(6.283185307179586 * unit(words[1]));
  }
  return out;
}

/// Columns that share a common part: correlated 0.3 with each other.
inline Matrix correlated(Index rows, Index cols, uint64_t seed) {
  Matrix out = normal(rows, cols, seed) * std::sqrt(0.7);
  const Vector common = normal(rows, 1, seed + 1000);
  for (Index j = 0; j < cols; ++j) out.col(j) += std::sqrt(0.3) * common;
  return out;
}

/// Responses of every loss from a sparse truth.
inline Matrix responses(const std::string& loss, const Matrix& x, Index outputs, uint64_t seed) {
  const Matrix truth = normal(std::min<Index>(4, x.cols()), outputs, seed + 7);
  const Matrix eta = x.leftCols(truth.rows()) * truth;
  const Matrix noise = normal(x.rows(), outputs, seed + 8);
  if (loss == "gaussian") return eta + 0.5 * noise;
  Matrix out = Matrix::Zero(x.rows(), outputs);
  for (Index i = 0; i < x.rows(); ++i) {
    Index best = 0;
    (eta + noise).row(i).maxCoeff(&best);
    if (loss == "multinomial") out(i, best) = 1;
    if (loss == "binomial") out(i, 0) = eta(i, 0) + noise(i, 0) > 0 ? 1 : 0;
    if (loss == "cox")  // a third leaves before its event
      out(i, 0) = std::exp(-0.5 * eta(i, 0) + 0.5 * noise(i, 0)) * (i % 3 == 0 ? -1 : 1);
    if (loss == "poisson")
      out(i, 0) = std::floor(std::exp(std::min(3.0, 0.5 * eta(i, 0) + 0.3 * noise(i, 0))));
  }
  return out;
}

inline Problem problem_of(const std::string& loss, Index rows, Index cols, Index outputs, uint64_t seed) {
  Matrix x = correlated(rows, cols, seed);
  Problem out;
  out.y = responses(loss, x, outputs, seed);
  out.x = dense_design(std::move(x));
  out.loss = &find_loss(loss);
  out.groups = Groups::features(cols, outputs);
  return out;
}

}  // namespace hewn::convex
