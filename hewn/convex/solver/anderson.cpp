#include "hewn/convex/solver/anderson.h"

#include <Eigen/Cholesky>

namespace hewn::convex {

std::optional<Anderson::Point> Anderson::push(Vector x, Matrix carried) {
  if (memory_ < 2) return std::nullopt;
  points_.push_back({std::move(x), std::move(carried)});
  if (to_index(points_.size()) <= memory_) return std::nullopt;
  Matrix steps(points_.front().x.size(), memory_);
  for (int i = 0; i < memory_; ++i) steps.col(i) = points_[to_size(i) + 1].x - points_[to_size(i)].x;
  Matrix products = steps.transpose() * steps;
  const double trace = products.trace();
  std::optional<Point> out;
  if (trace > 0) {
    products.diagonal().array() += 1e-12 * trace;
    Vector c = products.ldlt().solve(Vector::Ones(memory_));
    c /= c.sum();
    if (c.allFinite()) {
      out = Point{Vector::Zero(steps.rows()),
                  Matrix::Zero(points_.front().carried.rows(), points_.front().carried.cols())};
      for (int i = 0; i < memory_; ++i) {
        out->x += c[i] * points_[to_size(i) + 1].x;
        out->carried += c[i] * points_[to_size(i) + 1].carried;
      }
    }
  }
  points_.clear();
  return out;
}

}  // namespace hewn::convex
