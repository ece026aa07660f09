#include "hewn/convex/cross_validation.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "hewn/convex/fit/composed.h"
#include "hewn/convex/solver/subset.h"
#include "hewn/core/error.h"
#include "hewn/core/random.h"

namespace hewn::convex {
namespace {

/// How well a solution fits samples under weights.
double score_under(const Problem& problem, const Solution& solution, const Vector& weights, Measure how) {
  const Matrix eta = linear_predictor(problem, solution.coefficients(problem.groups), solution.intercept);
  return measure(how, *problem.loss, eta, problem.y, weights);
}

/// Every class has nearly the same share in all folds.
std::vector<int> spread_folds(const Problem& problem, const CrossValidationOptions& cv) {
  const Index n = problem.x->rows();
  std::vector<int64_t> order = permutation(cv.seed, 0, n);
  if (has_classes(*problem.loss)) {
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return class_of(problem.y, a) < class_of(problem.y, b); });
  }
  std::vector<int> out(to_size(n));
  for (Index i = 0; i < n; ++i)
    out[static_cast<std::size_t>(order[to_size(i)])] = static_cast<int>(i % cv.folds);
  return out;
}

/// The best entry, and the first within one standard error of it.
void choose(CrossValidation& out) {
  const double sign = larger_is_better(out.measure) ? -1 : 1;
  for (std::size_t i = 0; i < out.mean.size(); ++i) {
    if (sign * out.mean[i] < sign * out.mean[out.best]) out.best = i;
  }
  while (out.one_se < out.best &&
         sign * out.mean[out.one_se] > sign * out.mean[out.best] + out.error[out.best])
    ++out.one_se;
}

/// Solves the problem without the samples of a fold; gives the losses on them.
using FoldLosses = std::function<std::vector<double>(const Problem& rest, const Vector& outside)>;

CrossValidation over_folds(const Problem& problem, const CrossValidationOptions& cv,
                           const FoldLosses& losses_of) {
  const Index n = problem.x->rows();
  if (cv.folds < 2 || cv.folds > n) {
    throw Error(str("cv: expected 2 to ", n, " folds (the number of samples), got ", cv.folds));
  }
  const std::vector<int> fold_of = cv.fold_of.empty() ? spread_folds(problem, cv) : cv.fold_of;
  if (fold_of.size() != to_size(n)) throw Error(str("cv: ", fold_of.size(), " folds for ", n, " samples"));
  std::vector<std::vector<double>> losses(to_size(cv.folds));
  const auto solve_fold = [&](int fold) {
    Problem rest = problem;
    if (rest.sample_weight.size() == 0) rest.sample_weight = Vector::Ones(n);
    Vector outside = Vector::Zero(n);
    for (Index i = 0; i < n; ++i) {
      if (fold_of[to_size(i)] == fold) std::swap(outside[i], rest.sample_weight[i]);
    }
    if (outside.sum() <= 0 || rest.sample_weight.sum() <= 0) {
      throw Error(str("cv: fold ", fold + 1, " or the rest has no samples with weight"));
    }
    losses[to_size(fold)] = losses_of(rest, outside / outside.sum());
  };
  std::atomic<int> next{0};
  std::exception_ptr failure;
  std::mutex guard;
  const auto work = [&] {
    for (int fold = next++; fold < cv.folds; fold = next++) {
      try {
        solve_fold(fold);
      } catch (...) {
        const std::lock_guard lock(guard);
        failure = std::current_exception();
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < std::min(cv.threads, cv.folds); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);

  CrossValidation out;
  out.measure = cv.measure;
  for (std::size_t i = 0; i < losses.front().size(); ++i) {
    double mean = 0;
    for (const auto& fold : losses) mean += fold[i] / cv.folds;
    double square = 0;
    for (const auto& fold : losses) square += (fold[i] - mean) * (fold[i] - mean);
    out.mean.push_back(mean);
    out.error.push_back(std::sqrt(square / (cv.folds - 1) / cv.folds));
  }
  choose(out);
  return out;
}

}  // namespace

CrossValidation cross_validate(const Problem& problem, const Penalty& penalty, const Options& options,
                               const Path& path, const CrossValidationOptions& cv) {
  return over_folds(problem, cv, [&](const Problem& rest, const Vector& outside) {
    Follower follower(rest, penalty, options);
    std::vector<double> out;
    for (const Solution& at : path.solutions)
      out.push_back(score_under(problem, follower.fit(at.lambda), outside, cv.measure));
    return out;
  });
}

CrossValidation cross_validate_omp(const Problem& problem, const GreedyOptions& options,
                                   const CrossValidationOptions& cv) {
  return over_folds(problem, cv, [&](const Problem& rest, const Vector& outside) {
    Subsets subsets(rest);
    std::vector<double> out = {
        score_under(problem, subsets.solution(subsets.fit(subsets.always(), nullptr)), outside, cv.measure)};
    GreedyOptions own = options;
    own.progress = nullptr;
    own.on_solution = [&](const Solution& solution) {
      out.push_back(score_under(problem, solution, outside, cv.measure));
    };
    omp(rest, own);
    return out;
  });
}

CrossValidation cross_validate_sizes(const Problem& problem, Index most,
                                     const std::function<Solution(const Problem&, Index size)>& pick,
                                     const CrossValidationOptions& cv) {
  return over_folds(problem, cv, [&](const Problem& rest, const Vector& outside) {
    Subsets subsets(rest);
    std::vector<double> out = {
        score_under(problem, subsets.solution(subsets.fit(subsets.always(), nullptr)), outside, cv.measure)};
    for (Index size = 1; size <= most; ++size)
      out.push_back(score_under(problem, pick(rest, size), outside, cv.measure));
    return out;
  });
}

}  // namespace hewn::convex
