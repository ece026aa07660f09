#include "hewn/convex/theory.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "hewn/convex/design/centred.h"
#include "hewn/convex/fit/fitter.h"
#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

/// Hessian (or its bound) between the entries of two groups: features where outputs agree.
Matrix hessian(const Problem& problem, const Centred& x, double factor, const std::vector<Index>& groups) {
  std::vector<int> features;
  std::vector<int> outputs;
  for (const Index g : groups) {
    for (const Part& part : problem.groups.parts(g)) {
      for (int k = 0; k < part.outputs; ++k) {
        for (const int j : part.features) {
          features.push_back(j);
          outputs.push_back(part.first_output + k);
        }
      }
    }
  }
  Matrix out(to_index(features.size()), to_index(features.size()));
  x.gram(features, features, out);
  for (Index i = 0; i < out.rows(); ++i) {
    for (Index j = 0; j < out.cols(); ++j) {
      out(i, j) = outputs[to_size(i)] == outputs[to_size(j)] ? factor * out(i, j) : 0;
    }
  }
  out.diagonal().array() += problem.ridge;
  return out;
}

double largest_singular(const Matrix& m) {
  const Matrix square = m.transpose() * m;
  return std::sqrt(std::max(0.0, Eigen::SelfAdjointEigenSolver<Matrix>(square).eigenvalues().maxCoeff()));
}

}  // namespace

SelectionWindow selection_window(const Problem& problem) {
  Fitter fitter(problem, Penalty(), Options());
  const Groups& groups = problem.groups;
  if (!(groups.weights().minCoeff() > 0))
    throw Error("selection window: groups without penalty are not covered");
  const double factor = problem.loss->curvature();
  SelectionWindow out;
  out.tau = out.lowest = fitter.tau();
  out.group = fitter.first_group();
  const Vector norms = fitter.gradient_norms();
  const Centred x(*problem.x, fitter.scale(), fitter.weights(), problem.intercept);
  double strong = problem.ridge;
  if (factor == 1) {
    const Matrix own = hessian(problem, x, 1, {out.group});
    strong = Eigen::SelfAdjointEigenSolver<Matrix>(own).eigenvalues().minCoeff();
  }
  double room = out.tau;
  for (Index g = 0; g < groups.count(); ++g) {
    if (g == out.group) continue;
    const double tau = norms[g] / groups.weight(g);
    out.second = std::max(out.second, tau);
    const Index first = groups.size(out.group);
    // With another loss the intercept moves too; a bound over both groups covers what it can do.
    const Matrix both = std::isfinite(factor) ? hessian(problem, x, factor, {out.group, g}) : Matrix();
    const double cross = both.size() == 0 ? std::numeric_limits<double>::infinity()
                         : factor == 1 ? largest_singular(both.bottomLeftCorner(both.rows() - first, first))
                                       : largest_singular(both);
    const double kappa = cross * groups.weight(out.group) / (strong * groups.weight(g));
    room = std::min(room, strong > 0 && std::isfinite(kappa) ? (out.tau - tau) / (1 + kappa) : 0);
  }
  out.lowest = out.tau - std::max(0.0, room);
  return out;
}

RestrictedConstants restricted_constants(const Problem& problem, Index groups) {
  check(problem);
  const Index count = problem.groups.count();
  if (count > 15 || problem.loss->curvature() != 1) {
    throw Error(
        str("restricted constants: only for gaussian loss and at most 15 groups, where they are exact; got ",
            count, " groups"));
  }
  groups = std::min(groups, count);
  Fitter fitter(problem, Penalty(), Options());
  const Centred x(*problem.x, fitter.scale(), fitter.weights(), problem.intercept);
  RestrictedConstants out{std::numeric_limits<double>::infinity(), 0};
  std::vector<Index> chosen;
  const std::function<void(Index)> extend = [&](Index next) {
    if (to_index(chosen.size()) == groups) {
      const Vector values =
          Eigen::SelfAdjointEigenSolver<Matrix>(hessian(problem, x, 1, chosen)).eigenvalues();
      out.strong = std::min(out.strong, values.minCoeff());
      out.smooth = std::max(out.smooth, values.maxCoeff());
      return;
    }
    for (Index g = next; g < count; ++g) {
      chosen.push_back(g);
      extend(g + 1);
      chosen.pop_back();
    }
  };
  extend(0);
  return out;
}

OmprBound ompr_bound(const Problem& problem, Index k, double excess, double epsilon) {
  const double smooth = restricted_constants(problem, 2).smooth;
  OmprBound out;
  out.smooth = smooth;
  double ratio = 0;
  // mu depends on kprime itself: the first one that is large enough for its own mu.
  for (out.kprime = k; out.kprime <= problem.groups.count(); ++out.kprime) {
    const double strong = restricted_constants(problem, k + out.kprime).strong;
    out.strong = strong;
    if (strong <= 0) continue;
    ratio = smooth / strong;
    if (static_cast<double>(out.kprime) >= static_cast<double>(k) * (ratio * ratio + 1)) break;
  }
  if (out.kprime > problem.groups.count()) return out;
  const double share = excess / epsilon;
  out.rounds =
      share > 1 ? static_cast<Index>(std::ceil(static_cast<double>(k) * ratio * std::log(share))) : 0;
  return out;
}

}  // namespace hewn::convex
