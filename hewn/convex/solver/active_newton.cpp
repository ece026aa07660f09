#include "hewn/convex/solver/active_newton.h"

#include <Eigen/Cholesky>
#include <cmath>

namespace hewn::convex {
namespace {

/// Column and output behind each coefficient of the groups.
struct Entry {
  Index column;
  int output;
};

std::vector<Entry> entries_of(const Quadratic& quadratic, const std::vector<Index>& active) {
  std::vector<Entry> out;
  for (const Index g : active) {
    const Block& block = quadratic.block(g);
    for (std::size_t i = 0; i < block.parts.size(); ++i) {
      const Part& part = quadratic.groups().parts(g)[i];
      for (int k = 0; k < part.outputs; ++k) {
        for (const Index column : block.parts[i].columns) out.push_back({column, part.first_output + k});
      }
    }
  }
  return out;
}

/// Shortens a step where the first group of one coefficient would change its sign, which becomes zero.
void stop_at_zero(const Groups& groups, const std::vector<Index>& active, const Vector& beta, Vector& step) {
  double share = 1;
  Index first = -1;
  Index at = 0;
  for (const Index g : active) {
    const Index m = groups.size(g);
    if (m == 1 && groups.weight(g) > 0 && beta[at] * (beta[at] + share * step[at]) < 0) {
      share = -beta[at] / step[at];
      first = at;
    }
    at += m;
  }
  step *= share;
  if (first >= 0) step[first] = -beta[first];
}

}  // namespace

Vector newton_step(const Quadratic& quadratic, const std::vector<Index>& active, double lambda,
                   const Vector& beta, const Vector& slopes) {
  const Index size = beta.size();
  if (size == 0 || size > kMostNewton) return {};
  const std::vector<Entry> entries = entries_of(quadratic, active);
  Matrix hessian = Matrix::Zero(size, size);
  for (Index j = 0; j < size; ++j) {
    for (Index i = 0; i < size; ++i) {
      const Entry& a = entries[to_size(i)];
      const Entry& b = entries[to_size(j)];
      if (a.output == b.output) hessian(i, j) = quadratic.factor() * quadratic.gram()(a.column, b.column);
    }
  }
  hessian.diagonal().array() += quadratic.ridge();
  Vector pull = slopes;
  Index at = 0;
  for (const Index g : active) {
    const Index m = quadratic.groups().size(g);
    const auto own = beta.segment(at, m);
    const double l = lambda * quadratic.groups().weight(g);
    const double norm = own.norm();
    if (l > 0 && norm == 0) return {};
    if (l > 0) {
      pull.segment(at, m) -= l / norm * own;
      hessian.block(at, at, m, m) -= l / (norm * norm * norm) * own * own.transpose();
      hessian.block(at, at, m, m).diagonal().array() += l / norm;
    }
    at += m;
  }
  const Vector unit = (hessian.diagonal().array() > 0).select(hessian.diagonal().array().abs().rsqrt(), 0);
  const Matrix scaled = unit.asDiagonal() * hessian * unit.asDiagonal();
  Vector step = unit.cwiseProduct(Vector(scaled.ldlt().solve(unit.cwiseProduct(pull))));
  if (!step.allFinite()) return {};
  stop_at_zero(quadratic.groups(), active, beta, step);
  return step;
}

Vector newton_step(const Quadratic& quadratic, const std::vector<Index>& active, double lambda,
                   const Vector& beta, const Vector& slopes, KeptFactor& factor) {
  if (active.empty() || beta.size() > kMostKept) return {};
  std::vector<Index> columns;
  Vector pull = slopes;
  for (std::size_t i = 0; i < active.size(); ++i) {
    columns.push_back(quadratic.single(active[i]).column);
    const double l = lambda * quadratic.groups().weight(active[i]);
    const double own = beta[to_index(i)];
    if (l > 0) pull[to_index(i)] -= std::copysign(l, own != 0 ? own : slopes[to_index(i)]);
  }
  if (!factor.follow(quadratic.gram(), quadratic.factor(), quadratic.ridge(), columns)) return {};
  Vector step = factor.solve(pull);
  if (!step.allFinite()) return {};
  stop_at_zero(quadratic.groups(), active, beta, step);
  return step;
}

}  // namespace hewn::convex
