#include "hewn/convex/cross_validation.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>

#include "hewn/convex/solver/composed.h"
#include "hewn/core/error.h"
#include "hewn/core/random.h"

namespace hewn::convex {
namespace {

/// Losses of one fold's samples along the path.
std::vector<double> losses_of(const Problem& problem, const Penalty& penalty, const Options& options,
                              const Path& path, const std::vector<int>& fold_of, int fold) {
  const Index n = problem.x->rows();
  Problem own = problem;
  if (own.sample_weight.size() == 0) own.sample_weight = Vector::Ones(n);
  Vector outside = Vector::Zero(n);
  for (Index i = 0; i < n; ++i) {
    if (fold_of[to_size(i)] != fold) continue;
    outside[i] = own.sample_weight[i];
    own.sample_weight[i] = 0;
  }
  if (outside.sum() <= 0 || own.sample_weight.sum() <= 0) {
    throw Error(str("cv: fold ", fold + 1, " or the rest has no samples with weight"));
  }
  outside /= outside.sum();
  Follower follower(own, penalty, options);
  std::vector<double> out;
  Matrix residual;
  for (const Solution& at : path.solutions) {
    const Solution solution = follower.fit(at.lambda);
    std::vector<int> features;
    const Matrix coefficients = solution.coefficients(problem.groups);
    for (Index j = 0; j < coefficients.rows(); ++j) {
      if (coefficients.row(j).squaredNorm() > 0) features.push_back(static_cast<int>(j));
    }
    Matrix kept(to_index(features.size()), coefficients.cols());
    for (std::size_t i = 0; i < features.size(); ++i) kept.row(to_index(i)) = coefficients.row(features[i]);
    Matrix eta = problem.offset.size() != 0 ? problem.offset : Matrix::Zero(n, problem.y.cols());
    problem.x->add_times(features, kept, eta);
    eta.rowwise() += solution.intercept;
    out.push_back(problem.loss->value(eta, problem.y, outside, residual));
  }
  return out;
}

}  // namespace

CrossValidation cross_validate(const Problem& problem, const Penalty& penalty, const Options& options,
                               const Path& path, const CrossValidationOptions& cv) {
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
  std::atomic<int> next{0};
  std::exception_ptr problem_met;
  std::mutex guard;
  const auto work = [&] {
    for (int fold = next++; fold < cv.folds; fold = next++) {
      try {
        losses[to_size(fold)] = losses_of(problem, penalty, options, path, fold_of, fold);
      } catch (...) {
        const std::lock_guard lock(guard);
        problem_met = std::current_exception();
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < std::min(cv.threads, cv.folds); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (problem_met) std::rethrow_exception(problem_met);

  CrossValidation out;
  for (std::size_t i = 0; i < path.solutions.size(); ++i) {
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

}  // namespace hewn::convex
