#include <algorithm>
#include <cassert>

#include "hewn/convex/design/design.h"
#include "hewn/convex/linalg/products.h"

namespace hewn::convex {
namespace {

// Rows of a panel of weighted columns: some hundred of them stay in the second-level cache.
constexpr Index kPanel = 512;

class Dense final : public Design {
 public:
  explicit Dense(Matrix values)
      : owned_(std::move(values)),
        x_(owned_.data(), owned_.rows(), owned_.cols(), Eigen::OuterStride<>(owned_.rows())) {}
  Dense(std::vector<double> values, Index rows)
      : vector_(std::move(values)),
        x_(vector_.data(), rows, to_index(vector_.size()) / rows, Eigen::OuterStride<>(rows)) {}
  Dense(const double* values, Index rows, Index cols, Index stride)
      : x_(values, rows, cols, Eigen::OuterStride<>(stride)) {}

  Index rows() const override { return x_.rows(); }
  Index cols() const override { return x_.cols(); }

  void transpose_times(Features features, const ConstView& v, View out) const override {
    out.setZero();
    add_dots(columns(features), {v.data(), v.outerStride(), nullptr, v.cols()}, rows(), out.data(),
             out.outerStride());
  }

  void transpose_times(const ConstView& v, View out) const override {
    out.setZero();
    add_dots({x_.data(), x_.outerStride(), nullptr, cols()}, {v.data(), v.outerStride(), nullptr, v.cols()},
             rows(), out.data(), out.outerStride());
  }

  void add_times(Features features, const ConstView& coefficients, View out) const override {
    add_combinations(columns(features), rows(), coefficients.data(), coefficients.outerStride(), out.data(),
                     out.outerStride(), out.cols());
  }

  void gram(Features a, Features b, const Vector& weights, View out) const override {
    const Index count = to_index(b.size());
    out.setZero();
    if (a.data() == b.data() && a.size() == b.size()) {
      const Vector roots = weights.cwiseSqrt();
      add_squares(columns(a), roots.data(), rows(), out.data(), out.outerStride());
      out.triangularView<Eigen::StrictlyLower>() = out.transpose();
      return;
    }
    Matrix weighted(std::min(kPanel, rows()), count);
    for (Index first = 0; first < rows(); first += kPanel) {
      const Index n = std::min(kPanel, rows() - first);
      for (Index j = 0; j < count; ++j) {
        weighted.col(j).head(n) =
            x_.col(b[to_size(j)]).segment(first, n).cwiseProduct(weights.segment(first, n));
      }
      Columns left = columns(a);
      left.base += first;
      add_dots(left, {weighted.data(), weighted.rows(), nullptr, count}, n, out.data(), out.outerStride());
    }
  }

  void moments(const Vector& weights, Vector& first, Vector& spread) const override {
    const double total = weights.sum();
    first.resize(cols());
    spread.resize(cols());
    for (Index j = 0; j < cols(); ++j) {
      first[j] = x_.col(j).dot(weights);
      const double centre = total > 0 ? first[j] / total : 0;
      spread[j] = ((x_.col(j).array() - centre).square() * weights.array()).sum();
    }
  }

 private:
  Columns columns(Features features) const {
    return {x_.data(), x_.outerStride(), features.data(), to_index(features.size())};
  }

  Matrix owned_;
  std::vector<double> vector_;
  Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> x_;
};

}  // namespace

std::shared_ptr<const Design> dense_design(Matrix values) {
  return std::make_shared<Dense>(std::move(values));
}

std::shared_ptr<const Design> dense_design(std::vector<double> values, Index rows) {
  assert(rows > 0 && to_index(values.size()) % rows == 0);
  return std::make_shared<Dense>(std::move(values), rows);
}

std::shared_ptr<const Design> dense_view(const double* values, Index rows, Index cols, Index stride) {
  return std::make_shared<Dense>(values, rows, cols, stride);
}

}  // namespace hewn::convex
