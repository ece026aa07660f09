#include "hewn/convex/solver/block_column.h"

#include <Eigen/Cholesky>
#include <algorithm>

namespace hewn::convex {

BlockColumn::BlockColumn(const LayerProblem& problem, Index number, bool refit)
    : problem_(problem), refit_(refit) {
  const Index first = number * problem.grid.block.cols;
  own_ =
      problem.weight.middleCols(first, std::min<Index>(problem.grid.block.cols, problem.grid.cols - first));
  target_ = problem.gram * own_;
  energy_ = own_.cwiseProduct(target_).sum();
  set({});
}

void BlockColumn::set(std::vector<Index> chosen) {
  chosen_ = std::move(chosen);
  fitted_ = Matrix::Zero(own_.rows(), own_.cols());
  if (refit_) {
    fit();
  } else {
    for (const Index row : chosen_)
      fitted_.middleRows(begin(row), size(row)) = own_.middleRows(begin(row), size(row));
  }
  slope_ = target_;
  for (const Index row : chosen_) {
    slope_.noalias() -=
        problem_.gram.middleCols(begin(row), size(row)) * fitted_.middleRows(begin(row), size(row));
  }
  // (w - b)'G(w - b) = w'Gw - b'(Gw + G(w - b)); rounding may take it below zero when all is fitted.
  loss_ = std::max(0.0, (energy_ - fitted_.cwiseProduct(target_ + slope_).sum()) / 2);
  penalty_ = problem_.ridge / 2 * fitted_.squaredNorm();
}

/// The Gram matrix of the inputs that meet chosen blocks, in their order, with ridge.
Matrix BlockColumn::normal_matrix() const {
  Index all = 0;
  for (const Index row : chosen_) all += size(row);
  Matrix out(all, all);
  Index at = 0;
  for (const Index row : chosen_) {
    Index other_at = 0;
    for (const Index other : chosen_) {
      out.block(at, other_at, size(row), size(other)) =
          problem_.gram.block(begin(row), begin(other), size(row), size(other));
      other_at += size(other);
    }
    at += size(row);
  }
  out.diagonal().array() += problem_.ridge;
  return out;
}

void BlockColumn::fit() {
  const Matrix normal = normal_matrix();
  Matrix right(normal.rows(), own_.cols());
  Index at = 0;
  for (const Index row : chosen_) {
    right.middleRows(at, size(row)) = target_.middleRows(begin(row), size(row));
    at += size(row);
  }
  // Inputs that are always zero leave a zero pivot where there is no ridge: LDLT solves around it.
  const Matrix solved =
      problem_.ridge > 0 ? Matrix(normal.llt().solve(right)) : Matrix(normal.ldlt().solve(right));
  at = 0;
  for (const Index row : chosen_) {
    fitted_.middleRows(begin(row), size(row)) = solved.middleRows(at, size(row));
    at += size(row);
  }
}

double BlockColumn::gain(Index row, Score score) const {
  const auto slope = slope_.middleRows(begin(row), size(row));
  if (score == Score::kNorm) return slope.norm();
  Matrix own = problem_.gram.block(begin(row), begin(row), size(row), size(row));
  own.diagonal().array() += problem_.ridge;
  if (!refit_) {
    // The block enters with the layer's own weights.
    const auto weight = own_.middleRows(begin(row), size(row));
    return weight.cwiseProduct(slope).sum() - weight.cwiseProduct(own * weight).sum() / 2;
  }
  return slope.cwiseProduct(Matrix(own.ldlt().solve(slope))).sum() / 2;
}

std::vector<double> BlockColumn::costs(Score score) const {
  std::vector<double> out;
  if (score == Score::kNorm) {
    for (const Index row : chosen_) out.push_back(fitted_.middleRows(begin(row), size(row)).norm());
    return out;
  }
  if (!refit_) {
    for (const Index row : chosen_) {
      const auto weight = fitted_.middleRows(begin(row), size(row));
      const auto own = problem_.gram.block(begin(row), begin(row), size(row), size(row));
      out.push_back(weight.cwiseProduct(slope_.middleRows(begin(row), size(row)) + own * weight / 2).sum());
    }
    return out;
  }
  // b'S b / 2, where S is the inverse of the block's part of the inverse.
  const Matrix normal = normal_matrix();
  const Matrix inverse = normal.ldlt().solve(Matrix::Identity(normal.rows(), normal.rows()));
  Index at = 0;
  for (const Index row : chosen_) {
    const auto weight = fitted_.middleRows(begin(row), size(row));
    const Matrix own = inverse.block(at, at, size(row), size(row));
    out.push_back(weight.cwiseProduct(Matrix(own.ldlt().solve(weight))).sum() / 2);
    at += size(row);
  }
  return out;
}

}  // namespace hewn::convex
