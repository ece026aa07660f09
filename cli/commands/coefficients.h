#pragma once

#include <string>

#include "hewn/convex/dataset.h"

namespace hewn::cli {

/// Writes the coefficients of `hewn select` as a .npy or a .csv file; only the latter has the intercept and
/// names. Throws Error for another suffix.
void write_coefficients(const std::string& path, const convex::Matrix& b, const convex::Dataset& data,
                        const Eigen::RowVectorXd& intercept);

}  // namespace hewn::cli
