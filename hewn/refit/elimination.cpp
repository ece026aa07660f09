#include "hewn/refit/elimination.h"

#include <Eigen/Cholesky>
#include <algorithm>

namespace hewn::refit {
namespace {

/// The inverse over what is left, and the weights there. The place of what leaves is taken by the last, so
/// that the work shrinks with what is left.
class Remaining {
 public:
  Remaining(const Matrix& inverse, Matrix weight, int64_t block_rows)
      : inverse_(inverse), weight_(std::move(weight)), size_(block_rows), end_(weight_.rows()) {
    // A smaller block at the edge comes first and stays in place: all others can stand in for each other.
    const Index blocks = (end_ + size_ - 1) / size_;
    ragged_ = end_ % size_ != 0;
    if (ragged_) rotate();
    for (Index i = 0; i < blocks; ++i) rows_.push_back(ragged_ ? (i + blocks - 1) % blocks : i);
    gone_ = false;
  }

  size_t count() const { return rows_.size(); }
  int64_t row(size_t place) const { return rows_[place]; }
  bool alive(size_t place) const { return !(ragged_ && place == 0 && gone_); }

  double cost(size_t place) const {
    const auto [first, size] = span(place);
    const auto weight = weight_.middleRows(first, size);
    const Matrix own = inverse_.block(first, first, size, size);
    return weight.cwiseProduct(Matrix(own.llt().solve(weight))).sum() / 2;
  }

  void remove(size_t place) {
    const auto [first, size] = span(place);
    const Matrix own = inverse_.block(first, first, size, size);
    const Matrix side = inverse_.block(0, first, end_, size);
    const Matrix solved = own.llt().solve(side.transpose());
    weight_.topRows(end_).noalias() -= solved.transpose() * Matrix(weight_.middleRows(first, size));
    inverse_.topLeftCorner(end_, end_).noalias() -= side * solved;
    if (ragged_ && place == 0) {
      gone_ = true;
      return;
    }
    end_ -= size;
    if (first != end_) {
      inverse_.block(first, 0, size, end_ + size) = inverse_.block(end_, 0, size, end_ + size).eval();
      inverse_.block(0, first, end_, size) = inverse_.block(0, end_, end_, size).eval();
      weight_.middleRows(first, size) = weight_.middleRows(end_, size).eval();
    }
    rows_[place] = rows_.back();
    rows_.pop_back();
  }

 private:
  std::pair<Index, Index> span(size_t place) const {
    const Index edge = ragged_ ? weight_.rows() % size_ : size_;
    if (place == 0) return {0, edge};
    return {edge + static_cast<Index>(place - 1) * size_, size_};
  }

  /// Puts the last, smaller block first.
  void rotate() {
    const Index edge = end_ % size_;
    std::vector<Index> order;
    for (Index i = 0; i < end_; ++i) order.push_back((i + end_ - edge) % end_);
    inverse_ = Matrix(inverse_(order, order));
    weight_ = Matrix(weight_(order, Eigen::all));
  }

  Matrix inverse_;
  Matrix weight_;
  Index size_;
  Index end_;
  bool ragged_ = false;
  bool gone_ = false;
  std::vector<int64_t> rows_;
};

}  // namespace

std::vector<Leaving> eliminate(const Matrix& inverse, Matrix weight, int64_t block_rows,
                               const std::vector<uint8_t>& present) {
  Remaining remaining(inverse, std::move(weight), block_rows);
  for (size_t place = remaining.count(); place-- > 0;) {
    if (present[static_cast<size_t>(remaining.row(place))] == 0) remaining.remove(place);
  }
  std::vector<Leaving> out;
  const auto all = static_cast<size_t>(std::count(present.begin(), present.end(), 1));
  while (out.size() < all) {
    size_t best = remaining.count();
    double least = 0;
    for (size_t place = 0; place < remaining.count(); ++place) {
      if (!remaining.alive(place)) continue;
      const double cost = remaining.cost(place);
      const bool first = best == remaining.count();
      // Places move; ties go to the lowest row all the same.
      if (first || cost < least || (cost == least && remaining.row(place) < remaining.row(best))) {
        best = place;
        least = cost;
      }
    }
    out.push_back({remaining.row(best), least});
    remaining.remove(best);
  }
  return out;
}

}  // namespace hewn::refit
