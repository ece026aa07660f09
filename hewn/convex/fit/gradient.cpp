#include "hewn/convex/fit/gradient.h"

#include <algorithm>
#include <cmath>

namespace hewn::convex {
namespace {

Matrix over_root_weights(const State& state) {
  const auto weights = state.fixed.weights.array();
  const Eigen::ArrayXd roots = (weights > 0).select(weights.sqrt(), 1);
  return state.point.v.array().colwise() / roots;
}

/// Remembers the residual; -1 where that would take too much memory.
int snapshot(State& state) {
  constexpr Index kBytes = Index{64} << 20;
  Gradient& gradient = state.gradient;
  const Index size = state.point.v.size();
  if (size * Index{8} * (to_index(gradient.snapshots.size()) + 1) > kBytes) {
    if (size * Index{16} > kBytes) return -1;
    gradient.snapshots.clear();
    std::fill(gradient.known_at.begin(), gradient.known_at.end(), -1);
  }
  gradient.snapshots.push_back(over_root_weights(state));
  return static_cast<int>(gradient.snapshots.size()) - 1;
}

std::vector<int> features_of(const Groups& groups, const std::vector<Index>& among) {
  std::vector<int> out;
  std::vector<bool> seen(to_size(groups.feature_count()), false);
  for (const Index g : among) {
    for (const Part& part : groups.parts(g)) {
      for (const int j : part.features) {
        if (!seen[to_size(j)]) out.push_back(j);
        seen[to_size(j)] = true;
      }
    }
  }
  return out;
}

void gradient_of(State& state, const std::vector<Index>& among) {
  const Problem& problem = state.fixed.problem;
  const Matrix& v = state.point.v;
  Gradient& gradient = state.gradient;
  const std::vector<int> features = features_of(problem.groups, among);
  Matrix out(to_index(features.size()), v.cols());
  state.fixed.x.transpose_times(features, v, v.colwise().sum(), out);
  for (std::size_t i = 0; i < features.size(); ++i) gradient.values.row(features[i]) = out.row(to_index(i));
  for (const Index g : among) {
    const auto values = values_of(state, g);
    double square = 0;
    for (const Part& part : problem.groups.parts(g)) {
      Index at = part.offset;
      for (int k = 0; k < part.outputs; ++k) {
        for (const int j : part.features) {
          double& entry = gradient.values(j, part.first_output + k);
          entry -= problem.ridge * values[at++];
          square += entry * entry;
        }
      }
    }
    gradient.norm[g] = std::sqrt(square);
    gradient.exact_at[to_size(g)] = state.version;
  }
}

}  // namespace

void full_gradient(State& state) {
  const Problem& problem = state.fixed.problem;
  const Matrix& v = state.point.v;
  Gradient& gradient = state.gradient;
  state.fixed.x.transpose_times(v, v.colwise().sum(), gradient.values);
  if (problem.ridge != 0) gradient.values -= problem.ridge * problem.groups.spread(state.point.beta);
  gradient.norm = problem.groups.norms(gradient.values);
  std::fill(gradient.exact_at.begin(), gradient.exact_at.end(), state.version);
  std::fill(gradient.known_at.begin(), gradient.known_at.end(), snapshot(state));
}

void gradient_where_needed(State& state, double lambda) {
  const Fixed& fixed = state.fixed;
  Gradient& gradient = state.gradient;
  if (!fixed.options.screen || !fixed.penalty.is_group_lasso()) {
    full_gradient(state);
    return;
  }
  const Matrix now = over_root_weights(state);
  Vector distance(to_index(gradient.snapshots.size()));
  for (Index i = 0; i < distance.size(); ++i) distance[i] = (now - gradient.snapshots[to_size(i)]).norm();
  std::vector<Index> needed;
  for (Index g = 0; g < fixed.problem.groups.count(); ++g) {
    const int at = gradient.known_at[to_size(g)];
    if (!state.working.has[to_size(g)] && at >= 0 &&
        gradient.norm[g] + fixed.reach[g] * distance[at] <= lambda * fixed.problem.groups.weight(g)) {
      continue;
    }
    needed.push_back(g);
  }
  if (4 * needed.size() > 3 * gradient.exact_at.size()) {
    full_gradient(state);
    return;
  }
  gradient_of(state, needed);
  const int at = snapshot(state);
  for (const Index g : needed) gradient.known_at[to_size(g)] = at;
}

void gradient_of_zero_groups(State& state, const std::vector<Index>& among) {
  std::vector<Index> outside;
  for (const Index g : among) {
    if (!state.working.has[to_size(g)]) outside.push_back(g);
  }
  // Their snapshot stays the old one: the norm moves with them.
  const Vector norms = state.gradient.norm;
  gradient_of(state, outside);
  state.gradient.norm = norms;
}

}  // namespace hewn::convex
