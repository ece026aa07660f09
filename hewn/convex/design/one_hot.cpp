#include <algorithm>

#include "hewn/convex/design/design.h"
#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

// A variable's columns never overlap: products with all of them cost one pass over the samples.
class OneHot final : public Design {
 public:
  OneHot(std::vector<std::vector<int>> codes, const std::vector<int>& levels) : codes_(std::move(codes)) {
    for (std::size_t v = 0; v < levels.size(); ++v) {
      first_.push_back(to_index(variable_.size()));
      variable_.insert(variable_.end(), to_size(levels[v]), static_cast<int>(v));
    }
  }

  Index rows() const override { return to_index(codes_.front().size()); }
  Index cols() const override { return to_index(variable_.size()); }

  void transpose_times(Features features, const ConstView& v, View out) const override {
    for (std::size_t i = 0; i < features.size(); ++i) {
      out.row(to_index(i)).setZero();
      for_each(features[i], [&](Index row) { out.row(to_index(i)) += v.row(row); });
    }
  }

  void transpose_times(const ConstView& v, View out) const override {
    out.setZero();
    for (std::size_t variable = 0; variable < codes_.size(); ++variable) {
      const std::vector<int>& code = codes_[variable];
      for (Index k = 0; k < v.cols(); ++k) {
        for (std::size_t i = 0; i < code.size(); ++i) {
          out(first_[variable] + code[i], k) += v(to_index(i), k);
        }
      }
    }
  }

  void add_times(Features features, const ConstView& coefficients, View out) const override {
    for (std::size_t i = 0; i < features.size(); ++i) {
      for_each(features[i], [&](Index row) { out.row(row) += coefficients.row(to_index(i)); });
    }
  }

  void gram(Features a, Features b, const Vector& weights, View out) const override {
    out.setZero();
    for (std::size_t j = 0; j < b.size(); ++j) {
      for_each(b[j], [&](Index row) {
        for (std::size_t i = 0; i < a.size(); ++i) {
          if (has(a[i], row)) out(to_index(i), to_index(j)) += weights[row];
        }
      });
    }
  }

  void moments(const Vector& weights, Vector& first, Vector& spread) const override {
    const double total = weights.sum();
    Matrix sums(cols(), 1);
    transpose_times(weights, sums);
    first = sums.col(0);
    spread = first.array() * (1 - first.array() / (total > 0 ? total : 1));
  }

 private:
  bool has(int column, Index row) const {
    const auto variable = to_size(variable_[to_size(column)]);
    return first_[variable] + codes_[variable][to_size(row)] == column;
  }
  template <class Visit>
  void for_each(int column, Visit visit) const {
    for (Index row = 0; row < rows(); ++row) {
      if (has(column, row)) visit(row);
    }
  }

  std::vector<std::vector<int>> codes_;
  std::vector<Index> first_;   // first column of each variable
  std::vector<int> variable_;  // variable of each column
};

}  // namespace

std::shared_ptr<const Design> one_hot_design(std::vector<std::vector<int>> codes, std::vector<int> levels) {
  if (codes.empty() || codes.size() != levels.size()) {
    throw Error("one-hot design: expected at least one variable and a number of levels for each");
  }
  for (std::size_t v = 0; v < codes.size(); ++v) {
    if (codes[v].size() != codes.front().size()) throw Error("one-hot design: variables differ in length");
    for (const int code : codes[v]) {
      if (code < 0 || code >= levels[v]) {
        throw Error(
            str("one-hot design: variable ", v, " has code ", code, ", expected 0 to ", levels[v] - 1));
      }
    }
  }
  return std::make_shared<OneHot>(std::move(codes), levels);
}

}  // namespace hewn::convex
