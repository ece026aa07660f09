#pragma once

#include <vector>

#include "hewn/convex/types.h"

namespace hewn::convex {

/// The Cholesky factor of  times * inner + plus * I  over a list of columns that changes little from one use
/// to the next: columns that come or go cost a square of their number, not its cube.
class KeptFactor {
 public:
  /// Makes it the factor over these columns. False, and empty, where they nearly depend on each other. What
  /// `inner` has for columns met before may not have changed.
  bool follow(const ConstView& inner, double times, double plus, const std::vector<Index>& columns);
  /// `b` and the solution are in the order of the columns of the last follow().
  Vector solve(const Vector& b) const;

 private:
  void clear();
  void remove(Index at);
  bool append(const ConstView& inner, Index column);
  bool make(const ConstView& inner, const std::vector<Index>& columns);
  void reserve(Index size);

  double times_ = 0;
  double plus_ = 0;
  std::vector<Index> order_;  // columns, as the factor has them
  std::vector<Index> place_;  // in that order, by column
  std::vector<Index> asked_;  // columns of the last follow()
  std::vector<bool> wanted_;  // by column
  Matrix upper_;
};

}  // namespace hewn::convex
