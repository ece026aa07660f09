#include "hewn/convex/design/design.h"
#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

class Sparse final : public Design {
 public:
  explicit Sparse(SparseColumns columns) : x_(std::move(columns)) {}

  Index rows() const override { return x_.row_count; }
  Index cols() const override { return to_index(x_.start.size()) - 1; }

  void transpose_times(Features features, const ConstView& v, View out) const override {
    for (std::size_t i = 0; i < features.size(); ++i) column_times(features[i], v, out, to_index(i));
  }

  void transpose_times(const ConstView& v, View out) const override {
    for (Index j = 0; j < cols(); ++j) column_times(j, v, out, j);
  }

  void add_times(Features features, const ConstView& coefficients, View out) const override {
    for (std::size_t i = 0; i < features.size(); ++i) {
      for (Index k = 0; k < out.cols(); ++k) {
        const double c = coefficients(to_index(i), k);
        if (c == 0) continue;
        for_each(features[i], [&](Index row, double value) { out(row, k) += c * value; });
      }
    }
  }

  void gram(Features a, Features b, const Vector& weights, View out) const override {
    Vector column = Vector::Zero(rows());
    for (std::size_t j = 0; j < b.size(); ++j) {
      for_each(b[j], [&](Index row, double value) { column[row] = value * weights[row]; });
      for (std::size_t i = 0; i < a.size(); ++i) {
        double sum = 0;
        for_each(a[i], [&](Index row, double value) { sum += value * column[row]; });
        out(to_index(i), to_index(j)) = sum;
      }
      for_each(b[j], [&](Index row, double) { column[row] = 0; });
    }
  }

  void moments(const Vector& weights, Vector& first, Vector& spread) const override {
    const double total = weights.sum();
    first = Vector::Zero(cols());
    spread = Vector::Zero(cols());
    for (Index j = 0; j < cols(); ++j) {
      double covered = 0;
      for_each(j, [&](Index row, double value) {
        first[j] += weights[row] * value;
        covered += weights[row];
      });
      const double centre = total > 0 ? first[j] / total : 0;
      for_each(j, [&](Index row, double value) {
        spread[j] += weights[row] * (value - centre) * (value - centre);
      });
      spread[j] += (total - covered) * centre * centre;  // the zeros
    }
  }

 private:
  template <class Visit>
  void for_each(Index column, Visit visit) const {
    for (Index i = x_.start[to_size(column)]; i < x_.start[to_size(column) + 1]; ++i) {
      visit(static_cast<Index>(x_.rows[to_size(i)]), x_.values[to_size(i)]);
    }
  }
  void column_times(Index column, const ConstView& v, View& out, Index to) const {
    for (Index k = 0; k < v.cols(); ++k) {
      double sum = 0;
      for_each(column, [&](Index row, double value) { sum += value * v(row, k); });
      out(to, k) = sum;
    }
  }

  SparseColumns x_;
};

}  // namespace

std::shared_ptr<const Design> sparse_design(SparseColumns columns) {
  const auto& start = columns.start;
  bool fits = !start.empty() && start.front() == 0 && start.back() == to_index(columns.rows.size()) &&
              columns.rows.size() == columns.values.size();
  for (std::size_t j = 1; fits && j < start.size(); ++j) {
    fits = start[j - 1] <= start[j];
    for (Index i = start[j - 1]; fits && i < start[j]; ++i) {
      const int row = columns.rows[to_size(i)];
      fits = row >= 0 && row < columns.row_count && (i == start[j - 1] || row > columns.rows[to_size(i) - 1]);
    }
  }
  if (!fits) {
    throw Error(
        "sparse design: expected ascending column starts and, in each column, ascending rows below the row "
        "count");
  }
  return std::make_shared<Sparse>(std::move(columns));
}

}  // namespace hewn::convex
