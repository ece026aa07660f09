#pragma once

#include <vector>

#include "hewn/convex/certificate.h"

namespace hewn::convex {

/// One minimiser, sparse over groups.
struct Solution {
  double lambda = 0;
  std::vector<Index> support;    // groups with non-zero values, ascending
  std::vector<double> values;    // theirs, one group after the other, in the units of the data
  Eigen::RowVectorXd intercept;  // in the units of the data
  double objective = 0;
  double loss = 0;  // mean over samples, without ridge
  Certificate certificate;
  int sweeps = 0;
  bool converged = false;

  /// p x K.
  Matrix coefficients(const Groups& groups) const;
};

}  // namespace hewn::convex
