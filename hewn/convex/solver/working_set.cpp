// Which groups a fit looks at: screening before, violations after.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <functional>

#include "hewn/convex/penalty/block_root.h"
#include "hewn/convex/solver/fitter.h"

namespace hewn::convex {

/// Sequential strong rule: a gradient is assumed to grow no faster than lambda falls. Not safe, hence
/// checked.
std::vector<Index> Fitter::strong_set(double lambda) const {
  const double least = std::min(lambda, 2 * lambda - gradient_lambda_);
  std::vector<Index> out;
  for (Index g = 0; g < problem_.groups.count(); ++g) {
    if (in_working_[to_size(g)] || known_norm_[g] >= least * problem_.groups.weight(g)) out.push_back(g);
  }
  return out;
}

void Fitter::gradient_of_zero_groups(const std::vector<Index>& among) {
  std::vector<Index> outside;
  for (const Index g : among) {
    if (!in_working_[to_size(g)]) outside.push_back(g);
  }
  // Their snapshot stays the old one: the norm moves with them.
  const Vector norms = known_norm_;
  gradient_of(outside);
  known_norm_ = norms;
}

Vector Fitter::gradient_norms() {
  full_gradient();
  return known_norm_;
}

void Fitter::full_gradient() {
  x_.transpose_times(v_, v_.colwise().sum(), gradient_);
  if (problem_.ridge != 0) gradient_ -= problem_.ridge * problem_.groups.spread(beta_);
  known_norm_ = problem_.groups.norms(gradient_);
  std::fill(exact_at_.begin(), exact_at_.end(), version_);
  std::fill(known_at_.begin(), known_at_.end(), snapshot());
}

/// Remembers the residual; -1 where that would take too much memory.
int Fitter::snapshot() {
  constexpr Index kBytes = Index{64} << 20;
  if (v_.size() * Index{8} * (to_index(snapshots_.size()) + 1) > kBytes) {
    if (v_.size() * Index{16} > kBytes) return -1;
    snapshots_.clear();
    std::fill(known_at_.begin(), known_at_.end(), -1);
  }
  const Eigen::ArrayXd roots = (weights_.array() > 0).select(weights_.array().sqrt(), 1);
  snapshots_.emplace_back(v_.array().colwise() / roots);
  return static_cast<int>(snapshots_.size()) - 1;
}

void Fitter::gradient_of(const std::vector<Index>& groups) {
  std::vector<int> features;
  std::vector<bool> seen(to_size(x_.cols()), false);
  for (const Index g : groups) {
    for (const Part& part : problem_.groups.parts(g)) {
      for (const int j : part.features) {
        if (!seen[to_size(j)]) features.push_back(j);
        seen[to_size(j)] = true;
      }
    }
  }
  Matrix out(to_index(features.size()), v_.cols());
  x_.transpose_times(features, v_, v_.colwise().sum(), out);
  for (std::size_t i = 0; i < features.size(); ++i) gradient_.row(features[i]) = out.row(to_index(i));
  for (const Index g : groups) {
    double square = 0;
    for (const Part& part : problem_.groups.parts(g)) {
      Index at = part.offset;
      for (int k = 0; k < part.outputs; ++k) {
        for (const int j : part.features) {
          double& entry = gradient_(j, part.first_output + k);
          entry -= problem_.ridge * values(g)[at++];
          square += entry * entry;
        }
      }
    }
    known_norm_[g] = std::sqrt(square);
    exact_at_[to_size(g)] = version_;
  }
}

/// Gradients of the working set, and of all groups that could violate their condition at lambda.
void Fitter::gradient_where_needed(double lambda) {
  if (!options_.screen || !penalty_.is_group_lasso()) {
    full_gradient();
    return;
  }
  const Eigen::ArrayXd roots = (weights_.array() > 0).select(weights_.array().sqrt(), 1);
  const Matrix now = v_.array().colwise() / roots;
  Vector distance(to_index(snapshots_.size()));
  for (Index i = 0; i < distance.size(); ++i) distance[i] = (now - snapshots_[to_size(i)]).norm();
  std::vector<Index> needed;
  for (Index g = 0; g < problem_.groups.count(); ++g) {
    const int at = known_at_[to_size(g)];
    if (!in_working_[to_size(g)] && at >= 0 &&
        known_norm_[g] + reach_[g] * distance[at] <= lambda * problem_.groups.weight(g)) {
      continue;
    }
    needed.push_back(g);
  }
  if (4 * needed.size() > 3 * exact_at_.size()) {
    full_gradient();
    return;
  }
  gradient_of(needed);
  const int at = snapshot();
  for (const Index g : needed) known_at_[to_size(g)] = at;
}

/// How far the current point is from optimal in one group, in units of its weight.
double Fitter::violation_of(Index g, double lambda) const {
  const Groups& groups = problem_.groups;
  // Not computed because it cannot violate.
  if (!in_working_[to_size(g)] && exact_at_[to_size(g)] != version_) return 0;
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
