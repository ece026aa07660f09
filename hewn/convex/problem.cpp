#include "hewn/convex/problem.h"

#include <cmath>

#include "hewn/core/error.h"

namespace hewn::convex {

void check(const Problem& problem) {
  if (problem.x == nullptr || problem.loss == nullptr) throw Error("problem: a design and a loss are needed");
  const Index n = problem.x->rows();
  const Index k = problem.y.cols();
  if (n < 1 || problem.x->cols() < 1) throw Error("problem: there are no samples or no features");
  if (problem.y.rows() != n)
    throw Error(str("problem: ", n, " samples but ", problem.y.rows(), " responses"));
  problem.loss->check(problem.y);
  if (problem.groups.feature_count() != problem.x->cols() || problem.groups.output_count() != k) {
    throw Error(str("problem: groups of ", problem.groups.feature_count(), " x ",
                    problem.groups.output_count(), " coefficients, expected ", problem.x->cols(), " x ", k));
  }
  if (problem.offset.size() != 0 && (problem.offset.rows() != n || problem.offset.cols() != k)) {
    throw Error(str("problem: offset is ", problem.offset.rows(), " x ", problem.offset.cols(), ", expected ",
                    n, " x ", k));
  }
  if (!problem.offset.allFinite()) throw Error("problem: an offset is not a number");
  if (!(problem.ridge >= 0) || std::isinf(problem.ridge)) {
    throw Error(str("ridge: expected a number of at least 0, got ", problem.ridge));
  }
  if (problem.sample_weight.size() == 0) return;
  if (problem.sample_weight.size() != n) {
    throw Error(str("problem: ", n, " samples but ", problem.sample_weight.size(), " weights"));
  }
  if (!(problem.sample_weight.minCoeff() >= 0) || !(problem.sample_weight.sum() > 0) ||
      !problem.sample_weight.allFinite()) {
    throw Error("problem: sample weights must be at least 0, and one of them more");
  }
}

}  // namespace hewn::convex
