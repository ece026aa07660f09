#include "hewn/convex/penalty/block_root.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hewn::convex {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double norm_of_u(const Spectrum& s) {
  double sum = 0;
  for (Index r = 0; r < s.count; ++r) sum += s.u2[r];
  return std::sqrt(sum);
}

double norm_at(const Spectrum& s, double nu) {
  double sum = 0;
  for (Index r = 0; r < s.count; ++r) {
    const double d = s.curvature[r] + nu;
    if (s.u2[r] > 0) sum += s.u2[r] / (d * d);
  }
  return std::sqrt(sum);
}

/// nu = slope_over(||b(nu)||), whose right side rises with nu: from below the steps climb to the smallest
/// solution (the largest block), from above they fall to the largest.
double settle(const Spectrum& s, const Along& along, double nu) {
  double last_nu = nu;
  double last_step = 0;
  for (int i = 0; i < 500; ++i) {
    const double r = norm_at(s, nu);
    if (!(r > 0)) return kInfinity;
    const double next = along.slope_over(r);
    if (!std::isfinite(next)) return kInfinity;
    const double step = next - nu;
    if (std::abs(step) <= 1e-15 * next) return next;
    // Where two solutions are near each other, or nearly there, steps hardly shrink. A secant of the steps
    // goes further, and not past a solution as long as the steps there have the same direction.
    double to = next;
    const double fall = last_step == 0 ? 0 : (step - last_step) / (nu - last_nu);
    if (step * last_step > 0 && fall < 0 && std::abs(step) < 1e-3 * next) {
      const double reach = std::min(-1 / fall, 0.1 * nu / std::abs(step));
      const double further = nu + std::max(1.0, reach) * step;
      const double norm = norm_at(s, further);
      const double there = norm > 0 ? along.slope_over(norm) - further : 0;
      if (std::isfinite(there) && there * step > 0) to = further;
    }
    last_nu = nu;
    last_step = step;
    nu = to;
  }
  return nu;
}

}  // namespace

double lasso_multiplier(const Spectrum& s, double l, double near) {
  const double u = norm_of_u(s);
  if (l <= 0) return 0;
  if (u <= l) return kInfinity;
  const auto [low, high] = std::minmax_element(s.curvature, s.curvature + s.count);
  if (*high <= 0) return kInfinity;
  if (*low == *high) return l * *low / (u - l);
  // 1 / ||u / (curvature h + l)|| - 1 rises with h = ||b|| and is concave: one Newton step from anywhere
  // lands left of the root, all further ones climb to it.
  const double least = (u - l) / *high;
  double h = std::max(near, least);
  for (int i = 0; i < 100; ++i) {
    double square = 0;
    double slope = 0;
    for (Index r = 0; r < s.count; ++r) {
      const double d = 1 / (s.curvature[r] * h + l);
      const double term = s.u2[r] * d * d;
      square += term;
      slope += term * s.curvature[r] * d;
    }
    const double step = (square * std::sqrt(square) - square) / slope;
    const double next = std::max(h + step, least);
    const bool settled = std::abs(next - h) <= 4e-16 * next || std::abs(square - 1) <= 1e-15;
    h = next;
    if (settled) break;
  }
  return l / h;
}

double multiplier(const Spectrum& s, const Along& along) {
  if (along.penalty->is_group_lasso()) return lasso_multiplier(s, along.lambda * along.weight, 0);
  if (along.lambda * along.weight <= 0) return 0;
  const double u = norm_of_u(s);
  if (!(u > 0)) return kInfinity;
  if (along.penalty->form() == Form::kComposed && along.penalty->scalar().is_straight_composed())
    return lasso_multiplier(s, along.slope_at_zero(), 0);
  const bool smooth = along.slope_at_zero() == 0;  // such a block never vanishes
  const auto [low, high] = std::minmax_element(s.curvature, s.curvature + s.count);
  if (along.penalty->form() == Form::kSum && !smooth && *low == *high &&
      *low > 0) {  // a function of the norm alone
    const double w = along.weight;
    const double r = along.penalty->scalar().prox(u * w / *low, along.lambda * w * w / *low) / w;
    return r > 0 ? std::max(0.0, u / r - *low) : kInfinity;
  }
  double best = kInfinity;
  double best_cost = smooth ? kInfinity : along.value(0);
  const auto consider = [&](double nu) {
    if (!std::isfinite(nu)) return;
    const BlockPoint point = block_point(s, nu);
    const double cost = point.quadratic + along.value(point.norm);
    if (cost < best_cost) {
      best = nu;
      best_cost = cost;
    }
  };
  // nu is at least what the largest possible block meets, which keeps a singular block finite.
  const double floor = *high * 1e-12;
  consider(settle(s, along, floor));
  if (smooth) consider(settle(s, along, along.slope_over(1e-300)));
  return best;
}

BlockPoint block_point(const Spectrum& s, double nu) {
  if (std::isinf(nu)) return {0, 0};
  double quadratic = 0;
  double square = 0;
  for (Index r = 0; r < s.count; ++r) {
    const double d = s.curvature[r] + nu;
    if (s.u2[r] <= 0 || d <= 0) continue;
    quadratic += s.u2[r] / d * (0.5 * s.curvature[r] / d - 1);
    square += s.u2[r] / (d * d);
  }
  return {quadratic, std::sqrt(square)};
}

}  // namespace hewn::convex
