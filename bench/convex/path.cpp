// One path on one problem, timed: convex_path X.npy Y.npy LOSS GROUP_SIZE LAMBDAS MIN_RATIO TOLERANCE
// Prints JSON: CPU seconds of the path alone, largest relative KKT violation, objective and gap at its end.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <iostream>

#include "hewn/convex/path.h"
#include "hewn/core/error.h"
#include "hewn/core/json.h"
#include "hewn/io/npy.h"

namespace {

using namespace hewn::convex;  // NOLINT: a program of one file

int run(char** argv) {
  hewn::io::NpyMatrix x = hewn::io::read_npy(argv[1]);
  const hewn::io::NpyMatrix y = hewn::io::read_npy(argv[2]);
  Problem problem;
  problem.y = Eigen::Map<const Matrix>(y.values.data(), y.rows, y.cols);
  problem.loss = &find_loss(argv[3]);
  const Index size = std::stol(argv[4]);
  problem.groups = Groups::sizes(std::vector<Index>(to_size(x.cols / size), size), y.cols);
  problem.groups.set_weights(Vector::Constant(problem.groups.count(), std::sqrt(static_cast<double>(size))));
  problem.x = dense_design(std::move(x.values), x.rows);
  PathOptions path;
  path.count = std::stoi(argv[5]);
  path.min_ratio = std::stod(argv[6]);
  Options options;
  options.tolerance = std::stod(argv[7]);
  const std::clock_t start = std::clock();
  const Path result = solve_path(problem, Penalty(), options, path);
  const double cpu = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  double kkt = 0;
  int sweeps = 0;
  bool converged = true;
  for (const Solution& s : result.solutions) {
    kkt = std::max(kkt, s.certificate.kkt);
    sweeps += s.sweeps;
    converged = converged && s.converged;
  }
  const Solution& last = result.solutions.back();
  std::cout << hewn::Json({{"cpu", cpu},
                           {"kkt", kkt},
                           {"objective", last.objective},
                           {"gap", last.certificate.gap},
                           {"groups", last.support.size()},
                           {"sweeps", sweeps},
                           {"converged", converged}})
                   .dump()
            << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) {
    std::cerr << "usage: convex_path X.npy Y.npy LOSS GROUP_SIZE LAMBDAS MIN_RATIO TOLERANCE\n";
    return 2;
  }
  try {
    return run(argv);
  } catch (const std::exception& error) {
    std::cerr << "convex_path: " << error.what() << '\n';
    return 1;
  }
}
