#include "hewn/convex/linalg/kept_factor.h"

#include <Eigen/Cholesky>
#include <Eigen/Jacobi>
#include <cmath>

namespace hewn::convex {
namespace {

constexpr double kLeastOfSquare = 1e-10;  // of a column's square, that others must leave of it
constexpr Index kChangesAtOnce = 8;       // one in so many columns: beyond, a new factor costs less

/// x becomes (U')^-1 x, for the upper triangle of the first columns of `upper`.
void solve_turned(const Matrix& upper, Vector& x) {
  for (Index i = 0; i < x.size(); ++i) {
    x[i] = (x[i] - upper.col(i).head(i).dot(x.head(i))) / upper(i, i);
  }
}

/// x becomes U^-1 x.
void solve_upper(const Matrix& upper, Vector& x) {
  for (Index i = x.size() - 1; i >= 0; --i) {
    x[i] /= upper(i, i);
    x.head(i) -= x[i] * upper.col(i).head(i);
  }
}

}  // namespace

bool KeptFactor::follow(const ConstView& inner, double times, double plus,
                        const std::vector<Index>& columns) {
  if (times != times_ || plus != plus_) clear();
  times_ = times;
  plus_ = plus;
  wanted_.assign(to_size(inner.cols()), false);
  for (const Index column : columns) wanted_[to_size(column)] = true;
  std::vector<Index> leaving;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (!wanted_[to_size(order_[i])]) leaving.push_back(to_index(i));
    wanted_[to_size(order_[i])] = false;
  }
  std::vector<Index> entering;
  for (const Index column : columns) {
    if (wanted_[to_size(column)]) entering.push_back(column);
  }
  bool whole = true;
  if (to_index(leaving.size() + entering.size()) * kChangesAtOnce > to_index(columns.size())) {
    whole = make(inner, columns);
  } else {
    for (std::size_t i = leaving.size(); i > 0; --i) remove(leaving[i - 1]);
    for (const Index column : entering) whole = whole && append(inner, column);
  }
  if (!whole) {
    clear();
    return false;
  }
  place_.resize(to_size(inner.cols()));
  for (std::size_t i = 0; i < order_.size(); ++i) place_[to_size(order_[i])] = to_index(i);
  asked_ = columns;
  return true;
}

Vector KeptFactor::solve(const Vector& b) const {
  const Index n = b.size();
  Vector x(n);
  for (Index i = 0; i < n; ++i) x[place_[to_size(asked_[to_size(i)])]] = b[i];
  solve_turned(upper_, x);
  solve_upper(upper_, x);
  Vector out(n);
  for (Index i = 0; i < n; ++i) out[i] = x[place_[to_size(asked_[to_size(i)])]];
  return out;
}

void KeptFactor::clear() { order_.clear(); }

void KeptFactor::reserve(Index size) {
  if (size <= upper_.rows()) return;
  const Index had = to_index(order_.size());
  Matrix larger(2 * size, 2 * size);
  larger.topLeftCorner(had, had) = upper_.topLeftCorner(had, had);
  upper_ = std::move(larger);
}

bool KeptFactor::make(const ConstView& inner, const std::vector<Index>& columns) {
  clear();
  const Index n = to_index(columns.size());
  reserve(n);
  Matrix picked(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) picked(i, j) = times_ * inner(columns[to_size(i)], columns[to_size(j)]);
    picked(j, j) += plus_;
  }
  const Eigen::LLT<Matrix, Eigen::Upper> llt(picked);
  if (llt.info() != Eigen::Success) return false;
  upper_.topLeftCorner(n, n) = llt.matrixU();
  order_ = columns;
  const auto left = upper_.topLeftCorner(n, n).diagonal().cwiseAbs2();
  return (left.array() > kLeastOfSquare * picked.diagonal().array()).all();
}

bool KeptFactor::append(const ConstView& inner, Index column) {
  const Index n = to_index(order_.size());
  reserve(n + 1);
  Vector fresh(n);
  for (Index i = 0; i < n; ++i) fresh[i] = times_ * inner(order_[to_size(i)], column);
  solve_turned(upper_, fresh);
  const double square = times_ * inner(column, column) + plus_;
  const double left = square - fresh.squaredNorm();
  if (!(left > kLeastOfSquare * square)) return false;
  upper_.col(n).head(n) = fresh;
  upper_(n, n) = std::sqrt(left);
  order_.push_back(column);
  return true;
}

// Without a column the factor has one entry below the diagonal in all that follow; rotations of neighbouring
// rows take them away.
void KeptFactor::remove(Index at) {
  const Index n = to_index(order_.size());
  order_.erase(order_.begin() + at);
  std::vector<Eigen::JacobiRotation<double>> rotations;
  for (Index j = at; j + 1 < n; ++j) {
    upper_.col(j).head(j + 2) = upper_.col(j + 1).head(j + 2);
    double* column = upper_.col(j).data();
    for (std::size_t r = 0; r < rotations.size(); ++r) {
      const Index i = at + to_index(r);
      const double a = column[i];
      const double b = column[i + 1];
      column[i] = rotations[r].c() * a - rotations[r].s() * b;
      column[i + 1] = rotations[r].s() * a + rotations[r].c() * b;
    }
    Eigen::JacobiRotation<double> next;
    next.makeGivens(column[j], column[j + 1], &column[j]);
    rotations.push_back(next);
  }
}

}  // namespace hewn::convex
