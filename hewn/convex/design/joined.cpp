#include "hewn/convex/design/design.h"
#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

/// Which of some features are on a side, counted from its first column, and where they stood.
struct Side {
  std::vector<int> features;
  std::vector<Index> places;
};

class Joined final : public Design {
 public:
  Joined(std::shared_ptr<const Design> left, std::shared_ptr<const Design> right)
      : left_(std::move(left)), right_(std::move(right)) {}

  Index rows() const override { return left_->rows(); }
  Index cols() const override { return left_->cols() + right_->cols(); }

  void transpose_times(Features features, const ConstView& v, View out) const override {
    for (const bool right : {false, true}) {
      const Side side = side_of(features, right);
      if (side.features.empty()) continue;
      Matrix own(to_index(side.features.size()), v.cols());
      design(right).transpose_times(side.features, v, own);
      for (std::size_t i = 0; i < side.places.size(); ++i) out.row(side.places[i]) = own.row(to_index(i));
    }
  }

  void transpose_times(const ConstView& v, View out) const override {
    left_->transpose_times(v, out.topRows(left_->cols()));
    right_->transpose_times(v, out.bottomRows(right_->cols()));
  }

  void add_times(Features features, const ConstView& coefficients, View out) const override {
    for (const bool right : {false, true}) {
      const Side side = side_of(features, right);
      if (side.features.empty()) continue;
      Matrix own(to_index(side.features.size()), coefficients.cols());
      for (std::size_t i = 0; i < side.places.size(); ++i)
        own.row(to_index(i)) = coefficients.row(side.places[i]);
      design(right).add_times(side.features, own, out);
    }
  }

  void gram(Features a, Features b, const Vector& weights, View out) const override {
    for (const bool right_a : {false, true}) {
      const Side rows_side = side_of(a, right_a);
      for (const bool right_b : {false, true}) {
        const Side cols_side = side_of(b, right_b);
        if (rows_side.features.empty() || cols_side.features.empty()) continue;
        const Matrix own = products(rows_side.features, right_a, cols_side.features, right_b, weights);
        for (std::size_t j = 0; j < cols_side.places.size(); ++j) {
          for (std::size_t i = 0; i < rows_side.places.size(); ++i)
            out(rows_side.places[i], cols_side.places[j]) = own(to_index(i), to_index(j));
        }
      }
    }
  }

  void moments(const Vector& weights, Vector& first, Vector& spread) const override {
    Vector other_first;
    Vector other_spread;
    left_->moments(weights, first, spread);
    right_->moments(weights, other_first, other_spread);
    first.conservativeResize(cols());
    spread.conservativeResize(cols());
    first.tail(right_->cols()) = other_first;
    spread.tail(right_->cols()) = other_spread;
  }

 private:
  const Design& design(bool right) const { return right ? *right_ : *left_; }

  Side side_of(Features features, bool right) const {
    const auto border = static_cast<int>(left_->cols());
    Side out;
    for (std::size_t i = 0; i < features.size(); ++i) {
      if ((features[i] >= border) != right) continue;
      out.features.push_back(right ? features[i] - border : features[i]);
      out.places.push_back(to_index(i));
    }
    return out;
  }

  Matrix products(const std::vector<int>& a, bool right_a, const std::vector<int>& b, bool right_b,
                  const Vector& weights) const {
    Matrix out(to_index(a.size()), to_index(b.size()));
    if (right_a == right_b) {
      design(right_a).gram(a, b, weights, out);
      return out;
    }
    // The other side's columns one by one, so that no more than one is ever dense.
    Matrix column(rows(), 1);
    const Matrix one = Matrix::Ones(1, 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      column.setZero();
      design(right_b).add_times(Features(&b[j], 1), one, column);
      column.array() *= weights.array();
      design(right_a).transpose_times(a, column, out.col(to_index(j)));
    }
    return out;
  }

  std::shared_ptr<const Design> left_;
  std::shared_ptr<const Design> right_;
};

}  // namespace

std::shared_ptr<const Design> joined_design(std::shared_ptr<const Design> left,
                                            std::shared_ptr<const Design> right) {
  if (left->rows() != right->rows()) {
    throw Error(str("joined design: ", left->rows(), " rows beside ", right->rows()));
  }
  return std::make_shared<Joined>(std::move(left), std::move(right));
}

}  // namespace hewn::convex
