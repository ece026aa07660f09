#include "hewn/convex/solver/quadratic.h"

#include <Eigen/Eigenvalues>
#include <algorithm>

namespace hewn::convex {

Quadratic::Quadratic(const Centred& x, const Groups& groups, const Vector& weights, double factor,
                     double ridge, bool gram)
    : x_(&x),
      groups_(&groups),
      weights_(&weights),
      factor_(factor),
      ridge_(ridge),
      gram_mode_(gram),
      index_(to_size(groups.count()), -1),
      singles_(to_size(groups.count())),
      column_of_(to_size(x.cols()), -1) {}

void Quadratic::leave_gram_mode() {
  gram_mode_ = false;
  gram_.resize(0, 0);
}

void Quadratic::set_factor(double factor) {
  for (Block& block : blocks_) {
    block.curvature = (block.curvature.array() - ridge_) * (factor / factor_) + ridge_;
    block.largest = (block.largest - ridge_) * (factor / factor_) + ridge_;
  }
  for (std::size_t g = 0; g < singles_.size(); ++g) {
    if (has(to_index(g))) singles_[g].curvature = block(to_index(g)).largest;
  }
  factor_ = factor;
}

std::vector<Index> Quadratic::columns_of(const std::vector<int>& features) const {
  std::vector<Index> out;
  for (const int j : features) out.push_back(column_of_[to_size(j)]);
  return out;
}

void Quadratic::add_columns(const std::vector<int>& features) {
  const Index before = columns();
  for (const int j : features) {
    column_of_[to_size(j)] = columns();
    features_.push_back(j);
  }
  if (!gram_mode_ || features.empty()) return;
  const Index after = columns();
  if (after > gram_.rows()) {
    Matrix larger(std::max(after, 2 * before), std::max(after, 2 * before));
    larger.topLeftCorner(before, before) = gram_.topLeftCorner(before, before);
    gram_ = std::move(larger);
  }
  // The same list twice: half of the products are enough.
  x_->gram(features_, before == 0 ? features_ : features, gram_.block(0, before, after, after - before));
  gram_.block(before, 0, after - before, before) = gram_.block(0, before, before, after - before).transpose();
}

Matrix Quadratic::inner_products(const std::vector<int>& features) const {
  const Index m = to_index(features.size());
  Matrix out(m, m);
  if (!gram_mode_) {
    x_->gram(features, features, out);
    return out;
  }
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < m; ++j) {
      out(i, j) = gram_(column_of_[to_size(features[to_size(i)])], column_of_[to_size(features[to_size(j)])]);
    }
  }
  return out;
}

void Quadratic::include(const std::vector<Index>& groups) {
  std::vector<int> fresh;
  for (const Index g : groups) {
    if (has(g)) continue;
    for (const Part& part : groups_->parts(g)) {
      for (const int j : part.features) {
        if (column_of_[to_size(j)] >= 0) continue;
        column_of_[to_size(j)] = 0;  // the real column follows
        fresh.push_back(j);
      }
    }
  }
  add_columns(fresh);
  for (const Index g : groups) {
    if (has(g)) continue;
    Block block;
    std::vector<double> curvature;
    for (const Part& part : groups_->parts(g)) {
      PartBasis basis;
      for (const int j : part.features) basis.columns.push_back(column_of_[to_size(j)]);
      basis.column = basis.columns.front();
      for (std::size_t i = 1; i < basis.columns.size(); ++i) {
        basis.in_a_row = basis.in_a_row && basis.columns[i] == basis.columns[i - 1] + 1;
      }
      const Matrix inner = inner_products(part.features);
      if (inner.rows() == 1) {
        curvature.push_back(factor_ * std::max(0.0, inner(0, 0)) + ridge_);
      } else {
        const Eigen::SelfAdjointEigenSolver<Matrix> solver(inner);
        basis.vectors = solver.eigenvectors();
        for (const double value : solver.eigenvalues())
          curvature.push_back(factor_ * std::max(0.0, value) + ridge_);
      }
      block.parts.push_back(std::move(basis));
    }
    block.curvature = Eigen::Map<const Vector>(curvature.data(), to_index(curvature.size()));
    block.largest = block.curvature.maxCoeff();
    // Zeros that rounding made small: no direction of a singular block may run away.
    block.curvature = block.curvature.cwiseMax(1e-14 * block.largest);
    singles_[to_size(g)] = {block.parts.front().column, groups_->parts(g).front().first_output,
                            block.largest};
    index_[to_size(g)] = to_index(blocks_.size());
    blocks_.push_back(std::move(block));
  }
}

}  // namespace hewn::convex
