#include "hewn/convex/fit/line_search.h"

#include <cmath>

#include "hewn/convex/fit/point.h"

namespace hewn::convex {

bool line_search(State& state, const Centred& x, const Vector& old, const Eigen::RowVectorXd& intercept_step,
                 double lambda) {
  Point& point = state.point;
  const Vector target = point.beta;
  const Matrix old_eta = point.eta;
  const Eigen::RowVectorXd old_intercept = point.intercept;
  point.beta = old;
  const double before = objective(state, lambda);
  double share = 1;
  for (int halvings = 0; halvings < 34; ++halvings, share /= 2) {
    point.beta = target;
    point.eta = old_eta;
    point.intercept = old_intercept;
    move_predictor(state, x, old, intercept_step, share);
    point.beta = old + share * (target - old);
    update_residual(state);
    const double after = objective(state, lambda);
    // Near the minimum rounding hides progress; a whole Newton step is right there.
    if (after < before || (share == 1 && after <= before + 1e-14 * (1 + std::abs(before)))) return true;
  }
  point.beta = old;
  point.eta = old_eta;
  point.intercept = old_intercept;
  update_residual(state);
  return false;
}

Vector gathered(const State& state) {
  const Groups& groups = state.fixed.problem.groups;
  const Index outputs = state.point.intercept.size();
  Index size = 0;
  for (const Index g : state.working.groups) size += groups.size(g);
  Vector out(size + outputs);
  Index at = 0;
  for (const Index g : state.working.groups) {
    out.segment(at, groups.size(g)) = values_of(state, g);
    at += groups.size(g);
  }
  out.tail(outputs) = state.point.intercept.transpose();
  return out;
}

bool try_point(State& state, const Anderson::Point& further, double lambda) {
  const Groups& groups = state.fixed.problem.groups;
  Point& point = state.point;
  const double before = objective(state, lambda);
  Point old = point;
  Index at = 0;
  for (const Index g : state.working.groups) {
    values_of(state, g) = further.x.segment(at, groups.size(g));
    at += groups.size(g);
  }
  point.intercept = further.x.tail(point.intercept.size()).transpose();
  point.eta = further.carried;
  update_residual(state);
  if (objective(state, lambda) < before) return true;
  point = std::move(old);
  return false;
}

}  // namespace hewn::convex
