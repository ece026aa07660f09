#include <algorithm>
#include <cmath>
#include <numeric>

#include "hewn/convex/solver/greedy_common.h"

namespace hewn::convex {
namespace {

/// Keeps the k groups with the largest norm over weight, and those of weight 0.
std::vector<Index> largest_groups(const Groups& groups, const Vector& values, Index k) {
  std::vector<std::pair<double, Index>> order;
  std::vector<Index> out;
  for (Index g = 0; g < groups.count(); ++g) {
    if (groups.weight(g) == 0) {
      out.push_back(g);
      continue;
    }
    order.emplace_back(-values.segment(groups.start(g), groups.size(g)).norm() / groups.weight(g), g);
  }
  std::partial_sort(order.begin(), order.begin() + k, order.end());
  for (Index i = 0; i < k; ++i) out.push_back(order[to_size(i)].second);
  std::sort(out.begin(), out.end());
  return out;
}

/// The values of some groups out of those of all, and back with zeros elsewhere.
Vector part_of(const Subsets& subsets, const std::vector<Index>& kept, const Vector& all) {
  const Groups& groups = subsets.problem().groups;
  Vector out(subsets.size(kept));
  Index at = 0;
  for (const Index g : kept) {
    out.segment(at, groups.size(g)) = all.segment(groups.start(g), groups.size(g));
    at += groups.size(g);
  }
  return out;
}
Vector filled_up(const Groups& groups, const std::vector<Index>& kept, const Vector& values) {
  Vector out = Vector::Zero(groups.total());
  Index at = 0;
  for (const Index g : kept) {
    out.segment(groups.start(g), groups.size(g)) = values.segment(at, groups.size(g));
    at += groups.size(g);
  }
  return out;
}

/// Where the iteration is: k groups, and their values among those of all.
struct Thresholded {
  SubsetFit fit;
  Vector beta;
};

/// Along the gradient and back to the k largest groups. Halves `step`, which is in units of one over the
/// total curvature, until the objective falls enough; false where it never does.
bool advance(const Subsets& subsets, Index k, const Thresholded& from, double& step, Thresholded& next) {
  const Problem& problem = subsets.problem();
  const Vector gradient = problem.groups.collect(subsets.gradient(from.fit));
  Evaluation evaluation;
  // The step grows again after each success, so that it follows the local curvature.
  const double unit = 1 / subsets.total_curvature();
  step *= 8;
  while (step > 2e-12) {
    step /= 2;
    const double length = step * unit;
    const Vector tried = from.beta + length * gradient;
    SubsetFit& fit = next.fit;
    fit.groups = largest_groups(problem.groups, tried, k);
    fit.values = part_of(subsets, fit.groups, tried);
    const double intercept_step = problem.intercept ? std::min(1.0, step) : 0;
    fit.intercept =
        from.fit.intercept + intercept_step * (from.fit.residual.transpose() * subsets.weights()).transpose();
    subsets.evaluate(fit.groups, fit.values, fit.intercept, evaluation);
    fit.objective = evaluation.objective;
    next.beta = filled_up(problem.groups, fit.groups, fit.values);
    const double least_gain = 1e-3 / length * (next.beta - from.beta).squaredNorm();
    if (!(fit.objective <= from.fit.objective - least_gain)) continue;
    fit.loss = evaluation.loss;
    fit.residual = std::move(evaluation.residual);
    return true;
  }
  return false;
}

/// Groups of the fit in the order of their size, and the losses as they are added.
void list_by_size(Greedy& out, Subsets& subsets, const SubsetFit& fit) {
  const Groups& groups = subsets.problem().groups;
  std::vector<std::pair<double, Index>> order;
  Index at = 0;
  for (const Index g : fit.groups) {
    if (groups.weight(g) > 0)
      order.emplace_back(-fit.values.segment(at, groups.size(g)).norm() / groups.weight(g), g);
    at += groups.size(g);
  }
  std::sort(order.begin(), order.end());
  std::vector<Index> grown = subsets.always();
  for (const auto& [size, g] : order) {
    out.selected.push_back(g);
    grown.push_back(g);
    out.losses.push_back(subsets.fit(grown, nullptr).loss);
  }
}

}  // namespace

Greedy iht(const Problem& problem, const GreedyOptions& options) {
  Subsets subsets(problem);
  const Index k = checked_count(problem, options.k);
  Greedy out;
  Thresholded now{subsets.fit(subsets.always(), nullptr), Vector::Zero(problem.groups.total())};
  out.null_loss = now.fit.loss;
  out.tau = choose_entering(subsets, now.fit, Score::kNorm).tau;
  if (out.tau == 0) {  // a response of zeros: there is nothing to explain
    finish(out, subsets, now.fit);
    return out;
  }
  double step = 1;
  constexpr int kMost = 500;
  for (int i = 0; i < kMost; ++i) {
    Thresholded next;
    if (!advance(subsets, k, now, step, next)) break;
    const bool settled =
        (next.beta - now.beta).norm() <= 1e-7 * next.beta.norm() && next.fit.groups == now.fit.groups;
    out.rounds.push_back({-1, -1, 0, false, next.fit.loss, next.fit.objective});
    now = std::move(next);
    if (options.progress) options.progress(i + 1, kMost);
    if (settled) break;
  }
  // The values on the chosen set are fitted exactly.
  const SubsetFit fit = subsets.fit(now.fit.groups, &now.fit);
  list_by_size(out, subsets, fit);
  finish(out, subsets, fit);
  return out;
}

}  // namespace hewn::convex
