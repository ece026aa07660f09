#include "hewn/convex/greedy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hewn/convex/fit/fitter.h"
#include "hewn/convex/solver/greedy_common.h"
#include "hewn/core/error.h"

namespace hewn::convex {

Index checked_count(const Problem& problem, Index k) {
  if (k < 1) throw Error(str("k: expected at least 1, got ", k));
  Index penalised = 0;
  for (Index g = 0; g < problem.groups.count(); ++g) penalised += problem.groups.weight(g) > 0 ? 1 : 0;
  return std::min(k, penalised);
}

namespace {

// What is reported of a set on the way is exact to nine digits.
constexpr double kRoundTolerance = 1e-14;

/// How much each group would gain by entering, in the units of the score.
Vector entering_scores(Subsets& subsets, const Matrix& gradient, Score score) {
  const Groups& groups = subsets.problem().groups;
  Vector out = groups.norms(gradient);
  for (Index g = 0; g < groups.count(); ++g) {
    if (groups.weight(g) == 0) continue;
    if (score == Score::kNorm) {
      out[g] /= groups.weight(g);
      continue;
    }
    const Block& block = subsets.block(g);
    double sum = 0;
    Index row = 0;
    for (std::size_t i = 0; i < block.parts.size(); ++i) {
      const Part& part = groups.parts(g)[i];
      const Index m = to_index(part.features.size());
      Matrix u(m, part.outputs);
      for (Index r = 0; r < m; ++r) {
        u.row(r) = gradient.row(part.features[to_size(r)]).segment(part.first_output, part.outputs);
      }
      if (m > 1) u = block.parts[i].vectors.transpose() * u;
      for (Index r = 0; r < m; ++r) {
        if (block.curvature[row + r] > 1e-12 * block.largest)
          sum += u.row(r).squaredNorm() / block.curvature[row + r];
      }
      row += m;
    }
    out[g] = std::sqrt(sum) / groups.weight(g);
  }
  return out;
}

double leaving_score(Subsets& subsets, Index g, const Eigen::Ref<const Vector>& values, Score score) {
  if (score == Score::kNorm) return values.norm();
  const Block& block = subsets.block(g);
  double sum = 0;
  Index row = 0;
  for (std::size_t i = 0; i < block.parts.size(); ++i) {
    const Part& part = subsets.problem().groups.parts(g)[i];
    const Index m = to_index(part.features.size());
    Matrix b = Eigen::Map<const Matrix>(values.data() + part.offset, m, part.outputs);
    if (m > 1) b = block.parts[i].vectors.transpose() * b;
    sum += (b.rowwise().squaredNorm().array() * block.curvature.segment(row, m).array()).sum();
    row += m;
  }
  return std::sqrt(sum);
}

}  // namespace

Choice choose_entering(Subsets& subsets, const SubsetFit& fit, Score score) {
  const Groups& groups = subsets.problem().groups;
  const Vector scores = entering_scores(subsets, subsets.gradient(fit), score);
  std::vector<bool> inside(to_size(groups.count()), false);
  for (const Index g : fit.groups) inside[to_size(g)] = true;
  Choice out;
  double second = 0;
  for (Index g = 0; g < groups.count(); ++g) {
    if (inside[to_size(g)]) continue;
    if (out.group < 0 || scores[g] > out.tau) {
      second = out.group < 0 ? 0 : out.tau;
      out.tau = scores[g];
      out.group = g;
    } else {
      second = std::max(second, scores[g]);
    }
  }
  out.tie = out.tau > 0 && second >= out.tau * (1 - kTieTolerance);
  return out;
}

void finish(Greedy& out, Subsets& subsets, const SubsetFit& fit) {
  const Choice outside = choose_entering(subsets, fit, Score::kNorm);
  out.final_tau = outside.group < 0 ? 0 : outside.tau;
  out.solution = subsets.solution(fit);
  out.solution.lambda = out.final_tau;
  // The fit solves the group LASSO at every lambda from final_tau up, the selected groups being free: its gap
  // says how exactly.
  const Problem& problem = subsets.problem();
  Matrix gradient = subsets.gradient(fit);
  const Vector norms = problem.groups.norms(gradient);
  double worst = 0;
  for (const Index g : fit.groups) worst = std::max(worst, norms[g]);
  Certificate& certificate = out.solution.certificate;
  certificate.kkt = worst / std::max(out.tau, 1e-300);
  Problem free = problem;
  for (const Index g : fit.groups) free.groups.set_weight(g, 0);
  Index at = 0;
  for (const Index g : fit.groups) {
    for (const Part& part : problem.groups.parts(g)) {
      for (int k = 0; k < part.outputs; ++k) {
        for (const int j : part.features)
          gradient(j, part.first_output + k) += problem.ridge * fit.values[at++];
      }
    }
  }
  const double bound = dual_bound(free, subsets.weights(), fit.residual, problem.groups.norms(gradient),
                                  out.final_tau * (1 + 1e-12));
  // The bound takes the selected groups as fitted exactly; what their fit may lack is added.
  certificate.gap = std::max(0.0, fit.objective - bound) + subsets.excess(fit);
  const bool tie =
      std::any_of(out.rounds.begin(), out.rounds.end(), [](const GreedyRound& round) { return round.tie; });
  certificate.verdict = !fit.converged                                               ? Verdict::kNone
                        : tie                                                        ? Verdict::kTie
                        : certificate.gap <= kCertifiedGap * std::abs(out.null_loss) ? Verdict::kCertified
                                                                                     : Verdict::kStationary;
}

Greedy select_none(const Problem& problem) {
  Subsets subsets(problem);
  const SubsetFit fit = subsets.fit(subsets.always(), nullptr);
  Greedy out;
  out.null_loss = fit.loss;
  out.tau = choose_entering(subsets, fit, Score::kNorm).tau;
  finish(out, subsets, fit);
  return out;
}

Greedy omp(const Problem& problem, const GreedyOptions& options) {
  Subsets subsets(problem);
  SubsetFit fit;
  Greedy out = pursue(subsets, options, checked_count(problem, options.k), fit);
  finish(out, subsets, fit);
  return out;
}

Greedy pursue(Subsets& subsets, const GreedyOptions& options, Index k, SubsetFit& fit) {
  Greedy out;
  fit = subsets.fit(subsets.always(), nullptr);
  out.null_loss = fit.loss;
  for (Index i = 0; i < k; ++i) {
    const Choice choice = choose(subsets, fit, options);
    if (i == 0) out.tau = choice.tau;
    if (out.tau == 0) break;  // a response of zeros: there is nothing to explain
    std::vector<Index> groups = fit.groups;
    groups.push_back(choice.group);
    fit = subsets.fit(groups, &fit, i + 1 < k ? kRoundTolerance : 1e-15);
    out.selected.push_back(choice.group);
    out.losses.push_back(fit.loss);
    out.rounds.push_back({choice.group, -1, choice.tau, choice.tie, fit.loss, fit.objective, choice.largest});
    if (options.on_solution) options.on_solution(subsets.solution(fit));
    if (options.progress) options.progress(static_cast<int>(i) + 1, static_cast<int>(k));
  }
  return out;
}

namespace {

/// A set that was given, fitted.
Greedy begin_with(Subsets& subsets, const std::vector<Index>& start, Index kept, SubsetFit& fit) {
  const Groups& groups = subsets.problem().groups;
  if (to_index(start.size()) != kept) {
    throw Error(str("start: expected ", kept, " groups (kprime, or k), got ", start.size()));
  }
  for (const Index g : start) {
    if (g < 0 || g >= groups.count() || groups.weight(g) == 0 ||
        std::count(start.begin(), start.end(), g) > 1)
      throw Error(str("start: expected different groups that are penalised, got group ", g));
  }
  Greedy out;
  fit = subsets.fit(subsets.always(), nullptr);
  out.null_loss = fit.loss;
  out.tau = choose_entering(subsets, fit, Score::kNorm).tau;
  std::vector<Index> all = subsets.always();
  all.insert(all.end(), start.begin(), start.end());
  fit = subsets.fit(all, nullptr);
  out.selected = start;
  return out;
}

}  // namespace

Greedy ompr(const Problem& problem, const GreedyOptions& options) {
  Subsets subsets(problem);
  const Index kept = checked_count(problem, options.kprime > 0 ? options.kprime : options.k);
  if (kept < checked_count(problem, options.k)) throw Error("kprime: expected at least k");
  SubsetFit fit;
  Greedy out = options.start.empty() ? pursue(subsets, options, kept, fit)
                                     : begin_with(subsets, options.start, kept, fit);
  SubsetFit best = fit;
  std::vector<Index> best_selected = out.selected;
  for (int round = 0; round < options.rounds; ++round) {
    const Choice choice = choose(subsets, fit, options);
    if (choice.group < 0 || out.selected.empty()) break;
    std::size_t leaving = 0;
    double least = std::numeric_limits<double>::infinity();
    Index at = 0;
    for (const Index g : fit.groups) {
      const Index size = problem.groups.size(g);
      const double score = leaving_score(subsets, g, fit.values.segment(at, size), options.score);
      const auto where = std::find(out.selected.begin(), out.selected.end(), g);
      if (where != out.selected.end() && score < least) {
        least = score;
        leaving = static_cast<std::size_t>(where - out.selected.begin());
      }
      at += size;
    }
    const Index removed = out.selected[leaving];
    std::vector<Index> groups = fit.groups;
    std::erase(groups, removed);
    groups.push_back(choice.group);
    SubsetFit next = subsets.fit(groups, &fit, kRoundTolerance);
    out.rounds.push_back(
        {choice.group, removed, choice.tau, choice.tie, next.loss, next.objective, choice.largest});
    if (options.progress) options.progress(round + 1, options.rounds);
    const bool better = next.objective < best.objective - 1e-10 * std::abs(best.objective);
    if (!better && !options.literal) {
      out.rounds.pop_back();
      break;
    }
    fit = std::move(next);
    out.selected.erase(out.selected.begin() + to_index(leaving));
    out.selected.push_back(choice.group);
    if (better) {
      best = fit;
      best_selected = out.selected;
    }
  }
  if (!options.literal) {
    fit = best;
    out.selected = best_selected;
  }
  fit = subsets.fit(fit.groups, &fit);
  // Losses in the order of the final set, so that they mean the same as for omp.
  out.losses.clear();
  std::vector<Index> groups = subsets.always();
  for (const Index g : out.selected) {
    groups.push_back(g);
    out.losses.push_back(
        groups.size() == fit.groups.size() ? fit.loss : subsets.fit(groups, nullptr, kRoundTolerance).loss);
  }
  finish(out, subsets, fit);
  return out;
}

}  // namespace hewn::convex
