// What a step towards the minimum over some groups is taken by: the inverse of each output's own Hessian.
#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <memory>

#include "hewn/convex/solver/subset.h"

namespace hewn::convex {
namespace {

/// Columns whose inner products, scaled to 1, have a pivot below this lose too many digits in them.
constexpr double kLeastPivot = 1e-8;
/// Relative to the largest: what is smaller is rounding of a column that others explain.
constexpr double kLeastColumn = 1e-13;

/// The inverse of a Hessian.
class Inverse {
 public:
  /// From the matrix; reliable() where its pivots say so.
  explicit Inverse(const Matrix& hessian) : unit_(hessian.diagonal().cwiseMax(0).cwiseSqrt()) {
    unit_ = (unit_.array() > 0).select(unit_.cwiseInverse(), 0);
    ldlt_.compute(unit_.asDiagonal() * hessian * unit_.asDiagonal());
    double least = 1;
    for (Index i = 0; i < unit_.size(); ++i) {
      // A column of zeros has no pivot, and needs none.
      if (unit_[ldlt_.transpositionsP().indices()[i]] > 0)
        least = std::min(least, std::abs(ldlt_.vectorD()[i]));
    }
    reliable_ = least > kLeastPivot;
  }
  /// From its root: columns A with hessian A'A. Twice as many digits survive.
  static Inverse of_columns(const Matrix& columns) {
    Inverse out;
    out.unit_ = columns.colwise().norm().transpose();
    out.unit_ = (out.unit_.array() > 0).select(out.unit_.cwiseInverse(), 0);
    out.qr_.setThreshold(kLeastColumn);
    out.qr_.compute(columns * out.unit_.asDiagonal());
    out.rank_ = out.qr_.rank();
    return out;
  }

  bool reliable() const { return reliable_; }

  Vector times(const Vector& v) const {
    const Vector scaled = unit_.cwiseProduct(v);
    if (rank_ < 0) return unit_.cwiseProduct(Vector(ldlt_.solve(scaled)));
    Vector inner = qr_.colsPermutation().transpose() * scaled;
    const auto r = qr_.matrixR().topLeftCorner(rank_, rank_).triangularView<Eigen::Upper>();
    Vector head = inner.head(rank_);
    r.transpose().solveInPlace(head);
    r.solveInPlace(head);
    inner.setZero();
    inner.head(rank_) = head;
    return unit_.cwiseProduct(Vector(qr_.colsPermutation() * inner));
  }

 private:
  // LDLT leaves its state unset until it has computed something, and copies it.
  Inverse() : ldlt_(Matrix::Identity(1, 1)) {}

  Vector unit_;  // one over the root of the diagonal; 0 for a column of zeros
  Eigen::LDLT<Matrix> ldlt_;
  Eigen::ColPivHouseholderQR<Matrix> qr_;
  Index rank_ = -1;  // of the columns, where they were given
  bool reliable_ = true;
};

using ByOutput = std::vector<std::vector<std::pair<Index, Index>>>;

/// Each output's inverse times its part of a gradient: values first, then one intercept per output.
Vector blockwise(const ByOutput& by_output, const std::vector<std::shared_ptr<const Inverse>>& inverses,
                 const Vector& gradient) {
  Vector out = gradient;
  const Index first = gradient.size() - to_index(by_output.size());
  for (std::size_t k = 0; k < by_output.size(); ++k) {
    const auto& list = by_output[k];
    Vector own(to_index(list.size()) + 1);
    for (std::size_t i = 0; i < list.size(); ++i) own[to_index(i)] = gradient[list[i].second];
    own[own.size() - 1] = gradient[first + to_index(k)];
    own = inverses[k]->times(own);
    for (std::size_t i = 0; i < list.size(); ++i) out[list[i].second] = own[to_index(i)];
    out[first + to_index(k)] = own[own.size() - 1];
  }
  return out;
}

}  // namespace

/// Inner products of the features of some groups under the curvature h, with the intercept as the last
/// column.
Matrix Subsets::curved_gram(const std::vector<int>& features, const Vector& h) const {
  const Index m = to_index(features.size());
  const Centred x(*problem_.x, scale_, h, problem_.intercept);
  Matrix out(m + 1, m + 1);
  x.gram(features, features, out.topLeftCorner(m, m));
  // Columns are centred under the sample weights, not under h: the intercept is not orthogonal to them.
  const double total = h.sum();
  Vector shift(m);
  for (Index i = 0; i < m; ++i) shift[i] = x.mean()[features[to_size(i)]] - x_.mean()[features[to_size(i)]];
  out.topLeftCorner(m, m) += total * shift * shift.transpose();
  out.col(m).head(m) = total * shift;
  out.row(m).head(m) = total * shift.transpose();
  out(m, m) = total;
  return out;
}

/// Columns whose inner products are curved_gram() with ridge.
Matrix Subsets::weighted_columns(const std::vector<int>& features, const Vector& h) const {
  const Index n = x_.rows();
  const Index m = to_index(features.size());
  Matrix out = Matrix::Zero(n + (problem_.ridge > 0 ? m : 0), m + 1);
  const Matrix one = Matrix::Ones(1, 1);
  for (Index j = 0; j < m; ++j) {
    if (!varies_[features[to_size(j)]]) continue;
    x_.add_times(Features(&features[to_size(j)], 1), one, out.col(j).head(n));
  }
  if (problem_.intercept) out.col(m).head(n).setOnes();
  out.topRows(n).array().colwise() *= h.array().sqrt();
  if (problem_.ridge > 0) out.bottomLeftCorner(m, m).diagonal().setConstant(std::sqrt(problem_.ridge));
  return out;
}

/// The inverse of each output's own Hessian where the last fit ended; for squared error it is all of it.
std::function<Vector(const Vector&)> Subsets::preconditioner(const std::vector<Index>& groups,
                                                             const Matrix& eta) {
  std::vector<int> features;
  auto by_output = std::make_shared<ByOutput>();
  entries(groups, features, *by_output);
  const Index m = to_index(features.size());
  const bool squared = problem_.loss->curvature() == 1;
  Matrix gram;
  Matrix curvature;
  if (squared) {  // the same for all outputs, and kept for the next set
    quadratic_.include(groups);
    const auto columns = quadratic_.columns_of(features);
    gram = Matrix::Zero(m + 1, m + 1);
    for (Index j = 0; j < m; ++j) {
      for (Index i = 0; i < m; ++i) gram(i, j) = quadratic_.gram()(columns[to_size(i)], columns[to_size(j)]);
    }
    gram(m, m) = 1;
  } else {
    curvature = problem_.loss->diagonal(eta, problem_.y);
    curvature = curvature.cwiseMax(1e-6 * curvature.maxCoeff());
  }
  std::vector<std::shared_ptr<const Inverse>> inverses;
  for (std::size_t k = 0; k < by_output->size(); ++k) {
    const auto& list = (*by_output)[k];
    const auto same_rows = [&](const auto& other) {
      return std::equal(list.begin(), list.end(), other.begin(), other.end(),
                        [](const auto& a, const auto& b) { return a.first == b.first; });
    };
    if (squared && k > 0 && same_rows((*by_output)[k - 1])) {
      inverses.push_back(inverses.back());
      continue;
    }
    const Vector h = squared ? weights_ : Vector(weights_.cwiseProduct(curvature.col(to_index(k))));
    if (!squared) gram = curved_gram(features, h);
    std::vector<Index> rows;
    std::vector<int> own_features;
    for (const auto& [row, at] : list) {
      rows.push_back(row);
      own_features.push_back(features[to_size(row)]);
    }
    rows.push_back(m);
    Matrix own = gram(rows, rows);
    for (Index i = 0; i + 1 < own.rows(); ++i) {
      if (!varies_[own_features[to_size(i)]]) {
        own.row(i).setZero();
        own.col(i).setZero();
      }
      own(i, i) += problem_.ridge;
    }
    auto inverse = std::make_shared<const Inverse>(own);
    if (!inverse->reliable()) {
      inverse = std::make_shared<const Inverse>(Inverse::of_columns(weighted_columns(own_features, h)));
    }
    inverses.push_back(std::move(inverse));
  }
  return [by_output, inverses](const Vector& gradient) { return blockwise(*by_output, inverses, gradient); };
}

double Subsets::excess(const SubsetFit& fit) {
  Evaluation at;
  evaluate(fit.groups, fit.values, fit.intercept, at);
  Vector gradient(at.slope.size() + at.intercept_slope.size());
  gradient << at.slope, at.intercept_slope.transpose();
  const double decrement =
      0.5 * gradient.dot(preconditioner(fit.groups, linear(fit.groups, fit.values, fit.intercept))(gradient));
  if (problem_.loss->curvature() == 1) return decrement;
  // An output's own Hessian is at least half of all of it.
  const double estimate = 2 * decrement;
  return problem_.ridge > 0 ? std::min(estimate, 0.5 * at.slope.squaredNorm() / problem_.ridge) : estimate;
}

}  // namespace hewn::convex
