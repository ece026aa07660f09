#include "hewn/convex/solver/sparse_block.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace hewn::convex {
namespace {

constexpr int kMostSteps = 100;
constexpr int kStepsBeforeNewton = 4;
constexpr Index kMostNewtonValues = 128;
constexpr double kNearer = 1e-2;

}  // namespace

Vector SparseBlock::times(const Vector& delta) const {
  Vector out(delta.size());
  Index row = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Index m = to_index(parts_[i].features.size());
    const Eigen::Map<const Matrix> d(delta.data() + parts_[i].offset, m, parts_[i].outputs);
    Eigen::Map<Matrix> to(out.data() + parts_[i].offset, m, parts_[i].outputs);
    const auto curvature = block_.curvature.segment(row, m);
    if (m == 1) {
      to = curvature[0] * d;
    } else {
      const Matrix& vectors = block_.parts[i].vectors;
      to.noalias() = vectors * (curvature.asDiagonal() * (vectors.transpose() * d));
    }
    row += m;
  }
  return out;
}

Vector SparseBlock::newton_step(const Vector& values, const Vector& slope) const {
  std::vector<Index> on;
  for (Index i = 0; i < values.size(); ++i) {
    if (values[i] != 0) on.push_back(i);
  }
  const Index size = to_index(on.size());
  if (size == 0 || size > kMostNewtonValues) return {};
  Matrix hessian(size, size);
  Vector one = Vector::Zero(values.size());
  for (Index j = 0; j < size; ++j) {
    one[on[to_size(j)]] = 1;
    hessian.col(j) = times(one)(on);
    one[on[to_size(j)]] = 0;
  }
  const double norm = values.norm();
  const Vector b = values(on);
  hessian -= penalty_.norm / (norm * norm * norm) * b * b.transpose();
  hessian.diagonal().array() += penalty_.norm / norm + 1e-14 * block_.largest;
  const Vector pull = slope(on) - penalty_.norm / norm * b - penalty_.single * b.cwiseSign();
  Vector step = hessian.ldlt().solve(pull);
  if (!step.allFinite()) return {};
  double share = 1;
  Index first = -1;
  for (Index i = 0; i < size && penalty_.single > 0; ++i) {
    if (b[i] * (b[i] + share * step[i]) >= 0) continue;
    share = -b[i] / step[i];
    first = i;
  }
  step *= share;
  if (first >= 0) step[first] = -b[first];
  Vector out = Vector::Zero(values.size());
  out(on) = step;
  return out;
}

Vector SparseBlock::minimise(const SparseGroup::Values& values, const SparseGroup::Values& slope) const {
  Vector b = values;
  Vector s = slope;
  if (block_.largest <= 0) return Vector::Zero(b.size());
  const double enough = kNearer * penalty_.distance(s, b);
  for (int i = 1; i <= kMostSteps; ++i) {
    const Vector step = penalty_.prox(b + s / block_.largest, 1 / block_.largest) - b;
    b += step;
    s -= times(step);
    if (penalty_.distance(s, b) <= enough || step.squaredNorm() == 0) break;
    if (i % kStepsBeforeNewton != 0) continue;
    const Vector leap = newton_step(b, s);
    if (leap.size() == 0) continue;
    const Vector change = times(leap);
    const double gain = s.dot(leap) - 0.5 * leap.dot(change) - (penalty_.value(b + leap) - penalty_.value(b));
    if (!(gain > 0)) continue;
    b += leap;
    s -= change;
  }
  return b;
}

}  // namespace hewn::convex
