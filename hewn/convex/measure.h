#pragma once

#include <string>

#include "hewn/convex/problem.h"

namespace hewn::convex {

/// How well a linear predictor fits responses.
enum class Measure {
  kLoss,      // mean of the loss
  kDeviance,  // twice what it is above that of a model with a parameter for every sample
  kAccuracy,  // share of right classes
  kAuc,       // chance that a sample of the second class is ranked above one of the first
};
/// "loss", "deviance", "accuracy" or "auc". Throws Error for another name, or one that does not fit the loss.
Measure find_measure(const std::string& name, const Loss& loss);
inline bool larger_is_better(Measure measure) {
  return measure == Measure::kAccuracy || measure == Measure::kAuc;
}

bool has_classes(const Loss& loss);
/// Of a class response.
Index class_of(const Matrix& y, Index row);

/// `weights` sum to 1.
double measure(Measure measure, const Loss& loss, const Matrix& eta, const Matrix& y, const Vector& weights);
/// Share of the variance of all responses.
double variance_explained(const Matrix& predicted, const Matrix& y, const Vector& weights);

/// Task cox: of pairs of which one is known to have its event first, the share that is ranked so.
double concordance(const Matrix& eta, const Matrix& y, const Vector& weights);

/// The linear predictor of coefficients (p x K) and intercept on all samples, offset included.
Matrix linear_predictor(const Problem& problem, const Matrix& coefficients,
                        const Eigen::RowVectorXd& intercept);

}  // namespace hewn::convex
