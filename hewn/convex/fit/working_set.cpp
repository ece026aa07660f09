#include "hewn/convex/fit/working_set.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "hewn/convex/penalty/block_root.h"

namespace hewn::convex {
namespace {

/// Sum of q over all other groups with values.
double others_of(const State& state, Index g) {
  const Groups& groups = state.fixed.problem.groups;
  const Penalty& penalty = state.fixed.penalty;
  if (penalty.form() == Form::kSum) return 0;
  double sum = 0;
  for (const Index other : state.working.groups) {
    const double norm = values_of(state, other).norm();
    if (other == g || groups.weight(other) == 0 || norm == 0) continue;
    sum += penalty.scalar().value(groups.weight(other) * norm);
  }
  return sum;
}

/// Minus the gradient of a group, like its values.
Vector gradient_of_group(const State& state, Index g) {
  Vector out(state.fixed.problem.groups.size(g));
  for (const Part& part : state.fixed.problem.groups.parts(g)) {
    Index at = part.offset;
    for (int k = 0; k < part.outputs; ++k) {
      for (const int j : part.features) out[at++] = state.gradient.values(j, part.first_output + k);
    }
  }
  return out;
}

/// Whether the best value of a zero group, all others held, is not zero.
bool leaves_zero(State& state, Index g, double lambda) {
  const Groups& groups = state.fixed.problem.groups;
  state.probe.include({g});
  const Block& block = state.probe.block(g);
  Vector u2(block.curvature.size());
  Index row = 0;
  for (std::size_t i = 0; i < block.parts.size(); ++i) {
    const Part& part = groups.parts(g)[i];
    const Index m = to_index(part.features.size());
    Matrix u(m, part.outputs);
    for (Index r = 0; r < m; ++r) {
      u.row(r) =
          state.gradient.values.row(part.features[to_size(r)]).segment(part.first_output, part.outputs);
    }
    if (m > 1) u = block.parts[i].vectors.transpose() * u;
    u2.segment(row, m) = u.rowwise().squaredNorm();
    row += m;
  }
  const Spectrum spectrum{block.curvature.data(), u2.data(), u2.size()};
  return std::isfinite(
      multiplier(spectrum, {&state.fixed.penalty, lambda, groups.weight(g), others_of(state, g)}));
}

}  // namespace

std::vector<Index> strong_set(const State& state, double lambda) {
  const Groups& groups = state.fixed.problem.groups;
  const double least = std::min(lambda, 2 * lambda - state.gradient.lambda);
  std::vector<Index> out;
  for (Index g = 0; g < groups.count(); ++g) {
    if (state.working.has[to_size(g)] || state.gradient.norm[g] >= least * groups.weight(g)) out.push_back(g);
  }
  return out;
}

double violation_of(State& state, Index g, double lambda) {
  const Groups& groups = state.fixed.problem.groups;
  // Not computed because it cannot violate.
  if (!state.working.has[to_size(g)] && state.gradient.exact_at[to_size(g)] != state.version) return 0;
  const double w = groups.weight(g);
  const double unit = w > 0 ? w : 1;
  const auto b = values_of(state, g);
  if (w > 0 && state.fixed.penalty.singles() > 0)
    return state.fixed.penalty.of_group(groups, g, lambda).distance(gradient_of_group(state, g), b) / unit;
  const double norm = b.norm();
  double square = 0;
  double slope = 0;  // pull of the penalty on non-zero values, divided by their norm
  double limit = 0;  // what a zero group withstands
  if (w > 0 && state.fixed.penalty.is_group_lasso()) {
    slope = norm > 0 ? lambda * w / norm : 0;
    limit = lambda * w;
  } else if (w > 0) {
    const Along along{&state.fixed.penalty, lambda, w, others_of(state, g)};
    slope = norm > 0 ? along.slope_over(norm) : 0;
    limit = along.slope_at_zero();
  }
  for (const Part& part : groups.parts(g)) {
    Index at = part.offset;
    for (int k = 0; k < part.outputs; ++k) {
      for (const int j : part.features) {
        const double d = state.gradient.values(j, part.first_output + k) - slope * b[at++];
        square += d * d;
      }
    }
  }
  const double size = std::sqrt(square);
  if (norm > 0 || w == 0) return size / unit;
  if (std::isinf(limit)) return leaves_zero(state, g, lambda) ? size / unit : 0;
  return std::max(0.0, size - limit) / unit;
}

double least_empty_lambda(State& state) {
  const Penalty& penalty = state.fixed.penalty;
  if (penalty.singles() > 0) {
    const Groups& groups = state.fixed.problem.groups;
    double least = 0;
    for (Index g = 0; g < groups.count(); ++g) {
      if (groups.weight(g) > 0 && state.gradient.norm[g] > state.fixed.noise)
        least =
            std::max(least, least_empty_lambda(penalty.of_group(groups, g, 1), gradient_of_group(state, g)));
    }
    return least;
  }
  const double tau = state.null.tau;
  if (tau == 0 || penalty.is_group_lasso() || penalty.form() == Form::kComposed) return tau;
  // At the threshold itself rounding would decide whether a group is in, with a value that is nearly zero.
  constexpr double kClear = 1 + 1e-9;
  if (std::isfinite(penalty.scalar().slope_at_zero())) return kClear * tau;
  double best = 0;
  for (Index g = 0; g < state.fixed.problem.groups.count(); ++g) {
    if (state.fixed.problem.groups.weight(g) == 0 || state.gradient.norm[g] <= state.fixed.noise) continue;
    if (best > 0 && !leaves_zero(state, g, best)) continue;
    double high = best > 0 ? best : tau;
    while (leaves_zero(state, g, high)) high *= 4;
    double low = high / 4;
    while (!leaves_zero(state, g, low)) low /= 4;
    for (int i = 0; i < 60 && high > low * (1 + 1e-14); ++i) {
      const double middle = std::sqrt(low) * std::sqrt(high);
      (leaves_zero(state, g, middle) ? low : high) = middle;
    }
    best = std::max(best, high);
  }
  return kClear * (best > 0 ? best : tau);
}

bool add_violators(State& state, const std::vector<Index>& among, double lambda, double tolerance) {
  std::vector<std::pair<double, Index>> found;
  for (const Index g : among) {
    if (state.working.has[to_size(g)] || !state.fixed.allowed[to_size(g)]) continue;
    const double violation = violation_of(state, g, lambda);
    if (violation > tolerance) found.emplace_back(violation, g);
  }
  if (found.empty()) return false;
  // A composed penalty takes the first group that is good enough and then shuts the door: only the best may
  // try.
  const Penalty& penalty = state.fixed.penalty;
  const bool one = penalty.form() == Form::kComposed && !penalty.is_group_lasso();
  const std::size_t most = one ? 1 : std::max<std::size_t>(100, 2 * state.working.groups.size());
  if (found.size() > most) {
    std::partial_sort(found.begin(), found.begin() + to_index(most), found.end(), std::greater<>());
    found.resize(most);
  }
  std::vector<Index> entering;
  for (const auto& [violation, g] : found) entering.push_back(g);
  std::sort(entering.begin(), entering.end());
  enter(state, entering);
  return true;
}

bool gram_pays(const State& state, const Quadratic& quadratic, const std::vector<Index>& entering) {
  const Fixed& fixed = state.fixed;
  if (fixed.options.mode != Mode::kAuto) return fixed.options.mode == Mode::kGram;
  Index columns = quadratic.columns();
  for (const Index g : entering) {
    if (quadratic.has(g)) continue;
    for (const Part& part : fixed.problem.groups.parts(g)) columns += to_index(part.features.size());
  }
  columns = std::min(columns, fixed.x.cols());
  const Index useful = fixed.x.rows() * (state.point.eta.cols() > 2 ? 2 : 1);
  const Index capacity = 2 * columns;  // as the matrix grows
  return columns <= useful && capacity * capacity * Index{8} <= fixed.options.gram_bytes;
}

void enter(State& state, const std::vector<Index>& entering) {
  if (state.fixed.fixed_curvature) {
    Quadratic& quadratic = state.quadratic;
    if (quadratic.gram_mode() && !gram_pays(state, quadratic, entering)) quadratic.leave_gram_mode();
    quadratic.include(entering);
  }
  WorkingSet& working = state.working;
  working.groups.insert(working.groups.end(), entering.begin(), entering.end());
  for (const Index g : entering) working.has[to_size(g)] = true;
}

}  // namespace hewn::convex
