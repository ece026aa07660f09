#include <algorithm>

#include "hewn/convex/design/design.h"

namespace hewn::convex {
namespace {

// Rows of a panel: two panels of some hundred columns stay in the second-level cache.
constexpr Index kPanel = 256;

bool is_range(Features features) {
  for (std::size_t i = 1; i < features.size(); ++i) {
    if (features[i] != features[i - 1] + 1) return false;
  }
  return !features.empty();
}

class Dense final : public Design {
 public:
  explicit Dense(Matrix values)
      : owned_(std::move(values)),
        x_(owned_.data(), owned_.rows(), owned_.cols(), Eigen::OuterStride<>(owned_.rows())) {}
  Dense(const double* values, Index rows, Index cols, Index stride)
      : x_(values, rows, cols, Eigen::OuterStride<>(stride)) {}

  Index rows() const override { return x_.rows(); }
  Index cols() const override { return x_.cols(); }

  void transpose_times(Features features, const ConstView& v, View out) const override {
    if (features.size() > 1 && is_range(features)) {
      out.noalias() = x_.middleCols(features.front(), to_index(features.size())).transpose() * v;
      return;
    }
    for (std::size_t i = 0; i < features.size(); ++i) {
      for (Index k = 0; k < v.cols(); ++k) out(to_index(i), k) = x_.col(features[i]).dot(v.col(k));
    }
  }

  void transpose_times(const ConstView& v, View out) const override {
    if (v.cols() == 1) {
      out.col(0).noalias() = x_.transpose() * v.col(0);
    } else {
      out.noalias() = x_.transpose() * v;
    }
  }

  void add_times(Features features, const ConstView& coefficients, View out) const override {
    if (features.size() > 4 && is_range(features)) {
      out.noalias() += x_.middleCols(features.front(), to_index(features.size())) * coefficients;
      return;
    }
    for (std::size_t i = 0; i < features.size(); ++i) {
      for (Index k = 0; k < out.cols(); ++k) {
        const double c = coefficients(to_index(i), k);
        if (c != 0) out.col(k) += c * x_.col(features[i]);
      }
    }
  }

  // Panels of rows, so that scattered columns multiply as matrices without a copy of the design.
  void gram(Features a, Features b, const Vector& weights, View out) const override {
    const Index na = to_index(a.size());
    const Index nb = to_index(b.size());
    out.setZero();
    Matrix left(std::min(kPanel, rows()), na);
    Matrix right(std::min(kPanel, rows()), nb);
    for (Index first = 0; first < rows(); first += kPanel) {
      const Index count = std::min(kPanel, rows() - first);
      for (Index j = 0; j < na; ++j) left.col(j).head(count) = x_.col(a[to_size(j)]).segment(first, count);
      for (Index j = 0; j < nb; ++j) {
        right.col(j).head(count) =
            x_.col(b[to_size(j)]).segment(first, count).cwiseProduct(weights.segment(first, count));
      }
      out.noalias() += left.topRows(count).transpose() * right.topRows(count);
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
  Matrix owned_;
  Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> x_;
};

}  // namespace

std::shared_ptr<const Design> dense_design(Matrix values) {
  return std::make_shared<Dense>(std::move(values));
}

std::shared_ptr<const Design> dense_view(const double* values, Index rows, Index cols, Index stride) {
  return std::make_shared<Dense>(values, rows, cols, stride);
}

}  // namespace hewn::convex
