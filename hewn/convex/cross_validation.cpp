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

/// Loss of a solution under weights.
double loss_of(const Problem& problem, const Solution& solution, const Vector& weights) {
  std::vector<int> features;
  const Matrix coefficients = solution.coefficients(problem.groups);
  for (Index j = 0; j < coefficients.rows(); ++j) {
    if (coefficients.row(j).squaredNorm() > 0) features.push_back(static_cast<int>(j));
  }
  Matrix kept(to_index(features.size()), coefficients.cols());
  for (std::size_t i = 0; i < features.size(); ++i) kept.row(to_index(i)) = coefficients.row(features[i]);
  Matrix eta =
      problem.offset.size() != 0 ? problem.offset : Matrix::Zero(problem.x->rows(), problem.y.cols());
  problem.x->add_times(features, kept, eta);
  eta.rowwise() += solution.intercept;
  Matrix residual;
  return problem.loss->value(eta, problem.y, weights, residual);
}

/// Solves the problem without the samples of a fold; gives the losses on them.
using FoldLosses = std::function<std::vector<double>(const Problem& rest, const Vector& outside)>;

CrossValidation over_folds(const Problem& problem, const CrossValidationOptions& cv,
                           const FoldLosses& losses_of) {
  const Index n = problem.x->rows();
  if (cv.folds < 2 || cv.folds > n) {
    throw Error(str("cv: expected 2 to ", n, " folds (the number of samples), got ", cv.folds));
  }
  std::vector<int> fold_of(to_size(n));
  const std::vector<int64_t> order = permutation(cv.seed, 0, n);
  for (Index i = 0; i < n; ++i) {
    fold_of[static_cast<std::size_t>(order[to_size(i)])] = static_cast<int>(i % cv.folds);
  }
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
  for (std::size_t i = 0; i < losses.front().size(); ++i) {
    double mean = 0;
    for (const auto& fold : losses) mean += fold[i] / cv.folds;
    double square = 0;
    for (const auto& fold : losses) square += (fold[i] - mean) * (fold[i] - mean);
    out.mean.push_back(mean);
    out.error.push_back(std::sqrt(square / (cv.folds - 1) / cv.folds));
    if (mean < out.mean[out.best]) out.best = i;
  }
  while (out.one_se < out.best && out.mean[out.one_se] > out.mean[out.best] + out.error[out.best])
    ++out.one_se;
  return out;
}

}  // namespace

CrossValidation cross_validate(const Problem& problem, const Penalty& penalty, const Options& options,
                               const Path& path, const CrossValidationOptions& cv) {
  return over_folds(problem, cv, [&](const Problem& rest, const Vector& outside) {
    Follower follower(rest, penalty, options);
    std::vector<double> out;
    for (const Solution& at : path.solutions)
      out.push_back(loss_of(problem, follower.fit(at.lambda), outside));
    return out;
  });
}

CrossValidation cross_validate_omp(const Problem& problem, const GreedyOptions& options,
                                   const CrossValidationOptions& cv) {
  return over_folds(problem, cv, [&](const Problem& rest, const Vector& outside) {
    Subsets subsets(rest);
    std::vector<double> out = {
        loss_of(problem, subsets.solution(subsets.fit(subsets.always(), nullptr)), outside)};
    GreedyOptions own = options;
    own.progress = nullptr;
    own.on_solution = [&](const Solution& solution) { out.push_back(loss_of(problem, solution, outside)); };
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
        loss_of(problem, subsets.solution(subsets.fit(subsets.always(), nullptr)), outside)};
    for (Index size = 1; size <= most; ++size) out.push_back(loss_of(problem, pick(rest, size), outside));
    return out;
  });
}

}  // namespace hewn::convex
