#include "hewn/convex/fit/condensed.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <numeric>

#include "hewn/convex/solver/prepare.h"

namespace hewn::convex {
namespace {

constexpr Index kMostFeatures = 1024;  // beyond, all inner products cost more than the few that a path needs
constexpr Index kRowsPerFeature = 4;
constexpr double kLeastRest = 1e-8;   // of a column's square that others may leave
constexpr double kLargestMean = 1e4;  // square of a mean over the variance: digits that centring takes

/// Sums over samples, of features and responses.
struct Sums {
  Matrix inner;  // centred
  Vector mean;
};

bool pays(const Problem& problem, const Options& options) {
  const Index p = problem.x->cols();
  return problem.loss == &find_loss("gaussian") && options.mode == Mode::kAuto && p > 0 &&
         p <= kMostFeatures && (problem.intercept || !problem.standardise) &&
         problem.x->rows() >= kRowsPerFeature * (p + problem.y.cols() + 1);
}

Sums sums_of(const Problem& problem, const Vector& weights) {
  const Index p = problem.x->cols();
  const Index outputs = problem.y.cols();
  Matrix target = problem.y;
  if (problem.offset.size() != 0) target -= problem.offset;
  Matrix columns(target.rows(), outputs + 1);  // weighted responses, and the weights alone
  columns.leftCols(outputs) = target.array().colwise() * weights.array();
  columns.col(outputs) = weights;
  Matrix products(p, outputs + 1);
  problem.x->transpose_times(columns, products);
  std::vector<int> all(to_size(p));
  std::iota(all.begin(), all.end(), 0);
  Sums out{Matrix(p + outputs, p + outputs), Vector::Zero(p + outputs)};
  problem.x->gram(all, all, weights, out.inner.topLeftCorner(p, p));
  out.inner.topRightCorner(p, outputs) = products.leftCols(outputs);
  out.inner.bottomLeftCorner(outputs, p) = products.leftCols(outputs).transpose();
  out.inner.bottomRightCorner(outputs, outputs) = target.transpose() * columns.leftCols(outputs);
  if (problem.intercept) {
    out.mean.head(p) = products.col(outputs);
    out.mean.tail(outputs) = columns.leftCols(outputs).colwise().sum();
  }
  return out;
}

/// Centres the inner products; false where that takes too many digits.
bool centre(Sums& sums) {
  const Vector raw = sums.inner.diagonal();
  sums.inner -= sums.mean * sums.mean.transpose();
  for (Index j = 0; j < raw.size(); ++j) {
    const double square = sums.mean[j] * sums.mean[j];
    double& spread = sums.inner(j, j);
    if (spread * kLargestMean >= square && spread > 0) continue;
    if (raw[j] > 0) return false;
    spread = 0;
  }
  return true;
}

/// Upper triangular R with R'R = inner; empty where a column nearly depends on those before it.
Matrix factor_of(const Matrix& inner) {
  const Vector size = inner.diagonal().cwiseSqrt();
  const Vector inverse = (size.array() > 0).select(size.array().inverse(), 0);
  Matrix normed = inverse.asDiagonal() * inner * inverse.asDiagonal();
  normed.diagonal().setOnes();
  const Eigen::LLT<Matrix> llt(normed);
  if (llt.info() != Eigen::Success) return {};
  Matrix upper = llt.matrixU();
  if (!(upper.diagonal().cwiseAbs2().minCoeff() > kLeastRest)) return {};
  return upper * size.asDiagonal();
}

}  // namespace

void Condensed::restore(Solution& solution) const {
  solution.intercept = response_mean;
  std::size_t at = 0;
  for (const Index g : solution.support) {
    for (const Part& part : problem.groups.parts(g)) {
      for (int k = 0; k < part.outputs; ++k) {
        for (const int j : part.features) {
          solution.values[at] *= scale[j];
          solution.intercept[part.first_output + k] -= mean[j] * solution.values[at++];
        }
      }
    }
  }
}

std::unique_ptr<Condensed> condense(const Problem& problem, const Options& options) {
  check(problem);
  if (!pays(problem, options)) return nullptr;
  Sums sums = sums_of(problem, normalised_weights(problem));
  if (!sums.inner.allFinite() || !centre(sums)) return nullptr;
  Matrix factor = factor_of(sums.inner);
  if (factor.size() == 0) return nullptr;
  const Index p = problem.x->cols();
  const Index outputs = problem.y.cols();
  auto out = std::make_unique<Condensed>();
  out->scale = Vector::Ones(p);
  if (problem.standardise) {
    const Vector spread = sums.inner.diagonal().head(p);
    out->scale = (spread.array() > 0).select(spread.array().rsqrt(), 1);
  }
  out->mean = sums.mean.head(p);
  out->response_mean = sums.mean.tail(outputs).transpose();
  factor *= std::sqrt(static_cast<double>(factor.rows()));  // every row counts 1 / rows
  Problem& small = out->problem;
  small.y = factor.rightCols(outputs);
  small.x = dense_design(Matrix(factor.leftCols(p) * out->scale.asDiagonal()));
  small.loss = problem.loss;
  small.groups = problem.groups;
  small.ridge = problem.ridge;
  small.intercept = false;
  return out;
}

}  // namespace hewn::convex
