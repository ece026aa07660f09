#include "cli/commands/coefficients.h"

#include <sstream>

#include "cli/commands/table_reading.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/io/npy.h"

namespace hewn::cli {

void write_coefficients(const std::string& path, const convex::Matrix& b, const convex::Dataset& data,
                        const Eigen::RowVectorXd& intercept) {
  if (path.ends_with(".npy")) {
    io::write_npy(path, b.rows(), b.cols(), b.data());
    return;
  }
  if (!path.ends_with(".csv"))
    throw Error(str("coef: expected a file that ends in .npy or .csv, got ", path));
  std::ostringstream out;
  out.precision(17);
  out << "feature";
  for (const std::string& name : data.outputs) out << ',' << quoted_cell(name);
  out << "\nintercept";
  for (const double value : intercept) out << ',' << value;
  for (convex::Index j = 0; j < b.rows(); ++j) {
    out << '\n' << quoted_cell(data.features[static_cast<size_t>(j)]);
    for (convex::Index k = 0; k < b.cols(); ++k) out << ',' << b(j, k);
  }
  out << '\n';
  write_file_atomically(path, out.str());
}

}  // namespace hewn::cli
