#include "hewn/convex/mask.h"

#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

#include "hewn/convex/solver/lbfgs.h"
#include "hewn/convex/solver/subset.h"
#include "hewn/core/error.h"
#include "hewn/core/options.h"

namespace hewn::convex {
namespace {

std::string exact(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

double factor_of(const Mask& mask, double w) { return mask.kind == Mask::Kind::kExp ? std::exp(w) : w; }

}  // namespace

Penalty Mask::equivalent() const {
  switch (kind) {
    case Kind::kExp:
      return {Form::kSum, "lambert"};
    case Kind::kL1:
      return {Form::kSum, "l23"};
    case Kind::kPowerprop:
      return alpha == 2 ? Penalty() : Penalty(Form::kSum, "power:" + exact(2 / alpha));
    default:
      return {};
  }
}

Mask parse_mask(const std::string& text) {
  if (text == "identity") return {Mask::Kind::kIdentity, 2};
  if (text == "exp") return {Mask::Kind::kExp, 2};
  if (text == "l1") return {Mask::Kind::kL1, 2};
  if (text == "powerprop") return {Mask::Kind::kPowerprop, 2};
  if (text.starts_with("powerprop:")) {
    Mask mask{Mask::Kind::kPowerprop, 2};
    parse_value("mask powerprop", text.substr(10), mask.alpha);
    if (!(mask.alpha >= 2) || std::isinf(mask.alpha)) {
      throw Error(str("mask powerprop: expected an exponent of at least 2, got ", mask.alpha));
    }
    return mask;
  }
  throw Error(str("mask: expected identity, exp, l1, powerprop or powerprop:A, got \"", text, "\""));
}

Vector fold(const Mask& mask, const Masked& masked) {
  if (mask.has_factor()) return factor_of(mask, masked.w) * masked.b;
  const double norm = masked.b.norm();
  return norm > 0 ? Vector(std::pow(norm, mask.alpha - 1) * masked.b) : masked.b;
}

Masked lift(const Mask& mask, const Vector& u) {
  const double a = u.norm();
  Masked out{mask.kind == Mask::Kind::kExp ? 0.0 : 1.0, u};
  if (a == 0) {
    if (mask.kind != Mask::Kind::kExp) out.w = 0;
    return out;
  }
  switch (mask.kind) {
    case Mask::Kind::kIdentity:
      out.w = std::sqrt(a);
      break;
    case Mask::Kind::kExp:
      out.w = lambert_w(2 * a * a) / 2;
      break;
    case Mask::Kind::kL1:
      out.w = std::cbrt(2 * a * a);
      break;
    case Mask::Kind::kPowerprop:
      out.b *= std::pow(a, 1 / mask.alpha - 1);
      return out;
  }
  out.b /= factor_of(mask, out.w);
  return out;
}

double cost(const Mask& mask, const Masked& masked) {
  const double b = masked.b.squaredNorm();
  switch (mask.kind) {
    case Mask::Kind::kIdentity:
      return (masked.w * masked.w + b) / 2;
    case Mask::Kind::kExp:
      return masked.w * masked.w + b;
    case Mask::Kind::kL1:
      return std::abs(masked.w) + b;
    default:
      return b;
  }
}

namespace {

/// The mask form as a function of one vector: all b, then one w per group, then the intercept.
struct MaskForm {
  const Mask& mask;
  const Problem& problem;
  double lambda;

  const Groups& groups() const { return problem.groups; }
  Index outputs() const { return problem.y.cols(); }
  Index factor_at(Index g) const { return groups().total() + g; }

  Masked part(const Vector& at, Index g) const {
    return {at[factor_at(g)], at.segment(groups().start(g), groups().size(g))};
  }
  /// The values of all groups. Penalties see q(weight * norm): the mask stands for weight * u.
  Vector folded(const Vector& at) const {
    Vector u(groups().total());
    for (Index g = 0; g < groups().count(); ++g)
      u.segment(groups().start(g), groups().size(g)) = fold(mask, part(at, g)) / groups().weight(g);
    return u;
  }
};

Vector lifted(const MaskForm& form, const Vector& start, const Vector& weights) {
  const Problem& problem = form.problem;
  const Groups& groups = problem.groups;
  Vector x = Vector::Zero(groups.total() + groups.count() + form.outputs());
  for (Index g = 0; g < groups.count(); ++g) {
    if (groups.weight(g) == 0) throw Error("mask: groups without penalty have no mask form");
    const Masked own = lift(form.mask, groups.weight(g) * start.segment(groups.start(g), groups.size(g)));
    x.segment(groups.start(g), groups.size(g)) = own.b;
    x[form.factor_at(g)] = own.w;
  }
  if (problem.intercept)
    x.tail(form.outputs()) = problem.loss->start(weights.transpose() * problem.y).transpose();
  return x;
}

/// Sets the gradient of one group's b and w, penalty included, from that of its folded values; what it pays.
double unfold_gradient(const MaskForm& form, const Vector& at, Index g, const Vector& slope,
                       Vector& gradient) {
  const Mask& mask = form.mask;
  const Groups& groups = form.groups();
  const Masked m = form.part(at, g);
  const Vector pull = slope.segment(groups.start(g), groups.size(g)) / groups.weight(g);
  auto b = gradient.segment(groups.start(g), groups.size(g));
  double& w = gradient[form.factor_at(g)];
  const double factor = factor_of(mask, m.w);
  if (mask.has_factor()) {
    b = factor * pull;
    w = pull.dot(m.b) * (mask.kind == Mask::Kind::kExp ? factor : 1);
  } else if (const double norm = m.b.norm(); norm > 0) {
    b = std::pow(norm, mask.alpha - 1) * (pull + (mask.alpha - 1) * pull.dot(m.b) / (norm * norm) * m.b);
  }
  b += form.lambda * (mask.kind == Mask::Kind::kIdentity ? 1 : 2) * m.b;
  if (mask.kind == Mask::Kind::kIdentity) w += form.lambda * m.w;
  if (mask.kind == Mask::Kind::kExp) w += form.lambda * 2 * m.w;
  if (mask.kind == Mask::Kind::kL1) w += form.lambda * (m.w > 0 ? 1 : m.w < 0 ? -1 : 0);
  return form.lambda * cost(mask, m);
}

/// Whether a group at zero would pay for leaving it. There the gradient of the mask form vanishes, whatever
/// that of the loss is; of l1 and higher masks zero is a local minimum, and only the saddles of those that
/// equal the norm are told.
bool leaves_dead_groups(const MaskForm& form, const Vector& values, const Vector& slope) {
  if (!form.mask.equivalent().is_group_lasso()) return false;
  const Groups& groups = form.groups();
  for (Index g = 0; g < groups.count(); ++g) {
    if (values.segment(groups.start(g), groups.size(g)).squaredNorm() > 0) continue;
    const double pull = slope.segment(groups.start(g), groups.size(g)).norm();
    if (pull > form.lambda * groups.weight(g) * (1 + 1e-9)) return true;
  }
  return false;
}

}  // namespace

MaskTraining train_mask(const Problem& problem, const Mask& mask, double lambda, const Vector& start,
                        int max_iterations) {
  const Subsets subsets(problem);
  const MaskForm form{mask, problem, lambda};
  std::vector<Index> all(to_size(problem.groups.count()));
  std::iota(all.begin(), all.end(), Index{0});
  Evaluation evaluation;
  const auto f = [&](const Vector& at, Vector& gradient) {
    subsets.evaluate(all, form.folded(at), at.tail(form.outputs()).transpose(), evaluation);
    double value = evaluation.objective;
    gradient.setZero();
    for (const Index g : all) value += unfold_gradient(form, at, g, evaluation.slope, gradient);
    gradient.tail(form.outputs()) = evaluation.intercept_slope.transpose();
    return value;
  };
  LbfgsOptions options;
  options.max_iterations = max_iterations;
  const Minimised found = minimise(f, lifted(form, start, subsets.weights()), options);
  SubsetFit fit;
  fit.groups = all;
  fit.values = form.folded(found.x);
  fit.intercept = found.x.tail(form.outputs()).transpose();
  subsets.evaluate(all, fit.values, fit.intercept, evaluation);
  fit.loss = evaluation.loss;
  MaskTraining out;
  out.objective = found.value;
  out.iterations = found.iterations;
  out.solution = subsets.solution(fit);
  out.solution.lambda = lambda;
  out.solution.objective = found.value;
  out.at_saddle = leaves_dead_groups(form, fit.values, evaluation.slope);
  out.solution.converged = found.converged && !out.at_saddle;
  out.solution.certificate.verdict = out.solution.converged ? Verdict::kStationary : Verdict::kNone;
  return out;
}

}  // namespace hewn::convex
