#pragma once

#include <memory>
#include <vector>

#include "hewn/convex/types.h"

namespace hewn::convex {

/// The matrix X of n samples and p features, in whatever form. All functions may be called from many threads.
class Design {
 public:
  virtual ~Design() = default;

  virtual Index rows() const = 0;
  virtual Index cols() const = 0;

  /// out.row(i) = x_{features[i]}' v.
  virtual void transpose_times(Features features, const ConstView& v, View out) const = 0;
  /// out = X' v.
  virtual void transpose_times(const ConstView& v, View out) const = 0;
  /// out += X_features coefficients.
  virtual void add_times(Features features, const ConstView& coefficients, View out) const = 0;
  /// out = X_a' diag(weights) X_b.
  virtual void gram(Features a, Features b, const Vector& weights, View out) const = 0;
  /// Per column: sum of w x and sum of w (x - centre)^2, where centre = first / sum of w.
  virtual void moments(const Vector& weights, Vector& first, Vector& spread) const = 0;
};

/// Takes the matrix over; no second copy is made.
std::shared_ptr<const Design> dense_design(Matrix values);
/// The same for values column after column; `rows` must divide their number.
std::shared_ptr<const Design> dense_design(std::vector<double> values, Index rows);
/// Looks at someone else's memory, which must outlive the design: n x p, column-major, `stride` >= n.
std::shared_ptr<const Design> dense_view(const double* values, Index rows, Index cols, Index stride);

/// Compressed sparse columns: column j holds rows[start[j] .. start[j+1]) with their values.
struct SparseColumns {
  Index row_count = 0;
  std::vector<Index> start = {0};
  std::vector<int> rows;  // ascending inside a column
  std::vector<double> values;
};
/// Throws Error when the arrays do not describe a matrix.
std::shared_ptr<const Design> sparse_design(SparseColumns columns);

/// Categorical variables, each a block of 0/1 columns. codes[v][i] in [0, levels[v]) is what sample i has of
/// variable v. Throws Error for a code outside.
std::shared_ptr<const Design> one_hot_design(std::vector<std::vector<int>> codes, std::vector<int> levels);

/// The columns of one design, then those of another with as many rows; each keeps its form.
std::shared_ptr<const Design> joined_design(std::shared_ptr<const Design> left,
                                            std::shared_ptr<const Design> right);

}  // namespace hewn::convex
