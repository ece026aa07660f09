// Which groups a fit looks at: screening before, violations after.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "hewn/convex/penalty/block_root.h"
#include "hewn/convex/solver/fitter.h"

namespace hewn::convex {

/// Sequential strong rule: a gradient is assumed to grow no faster than lambda falls. Not safe, hence
/// checked.
std::vector<Index> Fitter::strong_set(double lambda) const {
  const Vector norms = gradient_norms();
  const double least = std::min(lambda, 2 * lambda - gradient_lambda_);
  std::vector<Index> out;
  for (Index g = 0; g < norms.size(); ++g) {
    if (in_working_[to_size(g)] || norms[g] >= least * problem_.groups.weight(g)) out.push_back(g);
  }
  return out;
}

void Fitter::gradient_of_zero_groups(const std::vector<Index>& among) {
  std::vector<Index> outside;
  for (const Index g : among) {
    if (!in_working_[to_size(g)]) outside.push_back(g);
  }
  gradient_of(outside);
}

/// How far the current point is from optimal in one group, in units of its weight.
double Fitter::violation_of(Index g, double lambda) const {
  const Groups& groups = problem_.groups;
  const double w = groups.weight(g);
  const auto b = values(g);
  const double norm = b.norm();
  double square = 0;
  double slope = 0;  // pull of the penalty on non-zero values, divided by their norm
  double limit = 0;  // what a zero group withstands
  if (w > 0 && penalty_.is_group_lasso()) {
    slope = norm > 0 ? lambda * w / norm : 0;
    limit = lambda * w;
  } else if (w > 0) {
    const Along along{&penalty_, lambda, w, others(g)};
    slope = norm > 0 ? along.slope_over(norm) : 0;
    limit = along.slope_at_zero();
  }
  for (const Part& part : groups.parts(g)) {
    Index at = part.offset;
    for (int k = 0; k < part.outputs; ++k) {
      for (const int j : part.features) {
        const double d = gradient_(j, part.first_output + k) - slope * b[at++];
        square += d * d;
      }
    }
  }
  const double size = std::sqrt(square);
  if (norm > 0 || w == 0) return size / unit(g);
  if (std::isinf(limit)) return leaves_zero(g, lambda) ? size / unit(g) : 0;
  return std::max(0.0, size - limit) / unit(g);
}

double Fitter::others(Index g) const {
  if (penalty_.form() == Form::kSum) return 0;
  double sum = 0;
  for (const Index other : working_) {
    const double norm = values(other).norm();
    if (other == g || problem_.groups.weight(other) == 0 || norm == 0) continue;
    sum += penalty_.scalar().value(problem_.groups.weight(other) * norm);
  }
  return sum;
}

/// Whether the best value of a zero group, all others held, is not zero.
bool Fitter::leaves_zero(Index g, double lambda) const {
  probe_.include({g});
  const Block& block = probe_.block(g);
  Vector u2(block.curvature.size());
  Index row = 0;
  for (std::size_t i = 0; i < block.parts.size(); ++i) {
    const Part& part = problem_.groups.parts(g)[i];
    const Index m = to_index(part.features.size());
    Matrix u(m, part.outputs);
    for (Index r = 0; r < m; ++r) {
      u.row(r) = gradient_.row(part.features[to_size(r)]).segment(part.first_output, part.outputs);
    }
    if (m > 1) u = block.parts[i].vectors.transpose() * u;
    u2.segment(row, m) = u.rowwise().squaredNorm();
    row += m;
  }
  const Spectrum spectrum{block.curvature.data(), u2.data(), u2.size()};
  return std::isfinite(multiplier(spectrum, {&penalty_, lambda, problem_.groups.weight(g), others(g)}));
}

/// Puts groups that are not optimal at zero into the working set, the worst first; false where there is none.
bool Fitter::add_violators(const std::vector<Index>& among, double lambda, double tolerance) {
  std::vector<std::pair<double, Index>> found;
  for (const Index g : among) {
    if (in_working_[to_size(g)]) continue;
    const double violation = violation_of(g, lambda);
    if (violation > tolerance) found.emplace_back(violation, g);
  }
  if (found.empty()) return false;
  // A composed penalty takes the first group that is good enough and then shuts the door: only the best may
  // try.
  const bool one = penalty_.form() == Form::kComposed && !penalty_.is_group_lasso();
  const std::size_t most = one ? 1 : std::max<std::size_t>(100, 2 * working_.size());
  if (found.size() > most) {
    std::partial_sort(found.begin(), found.begin() + to_index(most), found.end(), std::greater<>());
    found.resize(most);
  }
  std::vector<Index> entering;
  for (const auto& [violation, g] : found) {
    entering.push_back(g);
    in_working_[to_size(g)] = true;
  }
  std::sort(entering.begin(), entering.end());
  choose_mode(entering);
  working_.insert(working_.end(), entering.begin(), entering.end());
  return true;
}

}  // namespace hewn::convex
