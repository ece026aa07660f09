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

}  // namespace

Greedy iht(const Problem& problem, const GreedyOptions& options) {
  Subsets subsets(problem);
  const Groups& groups = problem.groups;
  const Index k = checked_count(problem, options.k);
  Greedy out;
  SubsetFit fit = subsets.fit(subsets.always(), nullptr);
  out.null_loss = fit.loss;
  out.tau = choose_entering(subsets, fit, Score::kNorm).tau;
  if (out.tau == 0) {  // a response of zeros: there is nothing to explain
    finish(out, subsets, fit);
    return out;
  }

  const auto gather = [&](const std::vector<Index>& kept, const Vector& all) {
    Vector own(subsets.size(kept));
    Index at = 0;
    for (const Index g : kept) {
      own.segment(at, groups.size(g)) = all.segment(groups.start(g), groups.size(g));
      at += groups.size(g);
    }
    return own;
  };
  Vector beta = Vector::Zero(groups.total());
  Vector slope;
  Eigen::RowVectorXd intercept_slope;
  double objective = fit.objective;
  double step = 1;
  constexpr int kMost = 500;
  for (int i = 0; i < kMost; ++i) {
    const Vector gradient = groups.collect(subsets.gradient(fit));
    SubsetFit next;
    Vector moved;
    bool found = false;
    // The step grows again after each success, so that it follows the local curvature.
    for (step *= 4; step > 1e-12; step /= 2) {
      const Vector tried = beta + step * gradient;
      next.groups = largest_groups(groups, tried, k);
      next.values = gather(next.groups, tried);
      next.intercept = fit.intercept + step * (fit.residual.transpose() * subsets.weights()).transpose() *
                                           (problem.intercept ? 1 : 0);
      next.objective = subsets.evaluate(next.groups, next.values, next.intercept, next.residual, slope,
                                        intercept_slope, &next.loss);
      moved = Vector::Zero(groups.total());
      Index at = 0;
      for (const Index g : next.groups) {
        moved.segment(groups.start(g), groups.size(g)) = next.values.segment(at, groups.size(g));
        at += groups.size(g);
      }
      if (next.objective <= objective - 1e-3 / step * (moved - beta).squaredNorm()) {
        found = true;
        break;
      }
    }
    if (!found) break;
    const bool settled = (moved - beta).norm() <= 1e-7 * moved.norm() && next.groups == fit.groups;
    out.steps.push_back({-1, -1, 0, false, next.loss, next.objective});
    fit = std::move(next);
    beta = std::move(moved);
    objective = fit.objective;
    if (options.progress) options.progress(i + 1, kMost);
    if (settled) break;
  }
  // The values on the chosen set are fitted exactly; selected in the order of their size.
  const std::vector<Index> chosen = fit.groups;
  fit = subsets.fit(chosen, &fit);
  std::vector<std::pair<double, Index>> order;
  Index at = 0;
  for (const Index g : chosen) {
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
  finish(out, subsets, fit);
  return out;
}

}  // namespace hewn::convex
