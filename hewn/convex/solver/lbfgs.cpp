#include "hewn/convex/solver/lbfgs.h"

#include <cmath>
#include <deque>

namespace hewn::convex {
namespace {

struct Pair {
  Vector step;
  Vector change;  // of the gradient
  double product;
};

Vector direction(const Vector& gradient, const std::deque<Pair>& pairs, const LbfgsOptions& options) {
  Vector q = gradient;
  std::deque<double> shares;
  for (auto pair = pairs.rbegin(); pair != pairs.rend(); ++pair) {
    shares.push_front(pair->step.dot(q) / pair->product);
    q -= shares.front() * pair->change;
  }
  if (options.precondition) {
    q = options.precondition(q);
  } else if (!pairs.empty()) {
    q *= pairs.back().product / pairs.back().change.squaredNorm();
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    q += (shares[i] - pairs[i].change.dot(q) / pairs[i].product) * pairs[i].step;
  }
  return -q;
}

}  // namespace

Minimised minimise(const std::function<double(const Vector&, Vector&)>& f, Vector x,
                   const LbfgsOptions& options) {
  Minimised out;
  Vector gradient(x.size());
  out.value = f(x, gradient);
  std::deque<Pair> pairs;
  Vector next_gradient(x.size());
  for (; out.iterations < options.max_iterations && !out.converged; ++out.iterations) {
    Vector step = direction(gradient, pairs, options);
    double slope = gradient.dot(step);
    if (!(slope < 0)) {  // curvature gone wrong: start anew
      pairs.clear();
      step = direction(gradient, pairs, options);
      slope = gradient.dot(step);
    }
    if (!(-slope > options.tolerance * std::abs(out.value) + options.floor)) {
      out.converged = true;
      break;
    }
    double share = 1;
    double value = 0;
    for (;; share /= 2) {
      value = f(x + share * step, next_gradient);
      if (value <= out.value + 1e-4 * share * slope) break;
      if (share < 1e-12) {  // rounding: no point along the way is better
        out.converged = true;
        break;
      }
    }
    if (out.converged) break;
    Pair pair{share * step, next_gradient - gradient, 0};
    pair.product = pair.step.dot(pair.change);
    x += pair.step;
    gradient = next_gradient;
    out.value = value;
    if (pair.product > 1e-14 * pair.step.norm() * pair.change.norm()) {
      pairs.push_back(std::move(pair));
      if (to_index(pairs.size()) > options.memory) pairs.pop_front();
    }
  }
  out.x = std::move(x);
  return out;
}

}  // namespace hewn::convex
