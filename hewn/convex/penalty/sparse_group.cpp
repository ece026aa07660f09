#include "hewn/convex/penalty/sparse_group.h"

#include <algorithm>
#include <cmath>

namespace hewn::convex {
namespace {

/// Halves an interval until rounding ends it. `is_low` says on which side a number lies.
template <typename IsLow>
void close_in(double& low, double& high, const IsLow& is_low) {
  while (true) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) return;
    (is_low(middle) ? low : high) = middle;
  }
}

}  // namespace

double shrunk_norm(const SparseGroup::Values& values, double by) {
  double sum = 0;
  for (const double v : values) {
    const double rest = std::max(0.0, std::abs(v) - by);
    sum += rest * rest;
  }
  return std::sqrt(sum);
}

double SparseGroup::distance(const Values& slope, const Values& b) const {
  const double size = b.norm();
  if (size == 0) return std::max(0.0, shrunk_norm(slope, single) - norm);
  double sum = 0;
  for (Index i = 0; i < b.size(); ++i) {
    const double rest = b[i] != 0 ? slope[i] - norm / size * b[i] - std::copysign(single, b[i])
                                  : std::max(0.0, std::abs(slope[i]) - single);
    sum += rest * rest;
  }
  return std::sqrt(sum);
}

Vector SparseGroup::prox(const Values& z, double step) const {
  Vector out(z.size());
  for (Index i = 0; i < z.size(); ++i) {
    const double rest = std::abs(z[i]) - step * single;
    out[i] = rest > 0 ? std::copysign(rest, z[i]) : 0;
  }
  const double size = out.norm();
  if (size > step * norm) return out * (1 - step * norm / size);
  return Vector::Zero(z.size());
}

double SparseGroup::withstands(const Values& gradient) const {
  const auto keeps = [&](double share) { return shrunk_norm(share * gradient, single) <= norm; };
  if (keeps(1)) return 1;
  double low = 0;
  double high = 1;
  close_in(low, high, keeps);
  return low;
}

double least_empty_lambda(const SparseGroup& of_one, const SparseGroup::Values& gradient) {
  const double size = gradient.norm();
  if (size == 0 || of_one.norm + of_one.single <= 0) return 0;
  const double largest = gradient.lpNorm<Eigen::Infinity>();
  // Either part alone keeps the group at zero there.
  double high = of_one.norm > 0 ? size / of_one.norm : largest / of_one.single;
  if (of_one.single > 0) high = std::min(high, largest / of_one.single);
  double low = 0;
  close_in(low, high, [&](double lambda) {
    return shrunk_norm(gradient, lambda * of_one.single) > lambda * of_one.norm;
  });
  return high;
}

}  // namespace hewn::convex
