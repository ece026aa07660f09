#include "hewn/convex/solver/descent.h"

#include <algorithm>

#include "hewn/convex/solver/active_newton.h"
#include "hewn/convex/solver/anderson.h"
#include "hewn/convex/solver/block_moves.h"

namespace hewn::convex {
namespace {

constexpr int kSweepsBeforeNewton = 20;

class Descent {
 public:
  Descent(const PenalisedQuadratic& minimised, const ConstView& v, Vector& beta,
          const DescentOptions& options)
      : minimised_(minimised),
        quadratic_(minimised.quadratic),
        options_(options),
        moves_(minimised, v, beta) {}

  DescentResult run() {
    DescentResult result;
    result.before = worst();
    result.after = result.before;
    if (result.before <= options_.tolerance) return result;
    options_.tolerance = std::max(options_.tolerance, options_.relative * result.before);
    while (result.sweeps < options_.max_sweeps) {
      result.after = sweep(minimised_.working);
      ++result.sweeps;
      // Violations met on the way are smaller than what the sweep leaves behind; looking again is cheap here.
      if (result.after <= options_.tolerance && quadratic_.gram_mode()) result.after = worst();
      if (result.after <= options_.tolerance) break;
      result.sweeps += settle_active(options_.max_sweeps - result.sweeps);
    }
    return result;
  }

 private:
  double worst() {
    double out = 0;
    for (const Index g : minimised_.working) out = std::max(out, moves_.violation(g));
    return out;
  }

  double sweep(const std::vector<Index>& groups) {
    double largest = 0;
    for (const Index g : groups) largest = std::max(largest, moves_.visit(g));
    return largest;
  }

  bool has_values(Index g) { return moves_.values(g).squaredNorm() > 0 || !moves_.is_penalised(g); }

  /// Sweeps over groups with values until they agree, with extrapolation.
  int settle_active(int max_sweeps) {
    active_.clear();
    for (const Index g : minimised_.working) {
      if (has_values(g)) active_.push_back(g);
    }
    if (active_.size() < 2) return 0;
    Anderson anderson(options_.anderson);
    int sweeps = 0;
    int before_newton = minimised_.factor != nullptr && moves_.single() ? 1 : kSweepsBeforeNewton;
    while (sweeps < max_sweeps) {
      const double largest = sweep(active_);
      ++sweeps;
      if (largest <= options_.tolerance) break;
      if (sweeps % before_newton == 0) {
        const size_t before = active_.size();
        const bool better = leap();
        // Points of other groups do not go together.
        if (better || active_.size() != before) anderson.clear();
        if (better) continue;
        before_newton = kSweepsBeforeNewton;
      }
      if (options_.anderson < 2) continue;
      const auto point = anderson.push(moves_.gathered(active_), moves_.slopes().all());
      if (point) accept_if_better(*point);
    }
    return sweeps;
  }

  /// A Newton step over the active groups where sweeps crawl; false where none is made that is better.
  bool leap() {
    if (!quadratic_.gram_mode() || !minimised_.penalty.is_group_lasso()) return false;
    std::erase_if(active_, [&](Index g) { return !has_values(g); });
    const Vector old = moves_.gathered(active_);
    const Vector slopes = moves_.slopes_of(active_);
    Vector step;
    if (minimised_.factor != nullptr && moves_.single())
      step = newton_step(quadratic_, active_, minimised_.lambda, old, slopes, *minimised_.factor);
    if (step.size() == 0) step = newton_step(quadratic_, active_, minimised_.lambda, old, slopes);
    if (step.size() == 0) return false;
    return accept_if_better({old + step, moves_.slopes_after(active_, step)});
  }

  bool accept_if_better(const Anderson::Point& point) {
    Slopes& slopes = moves_.slopes();
    const Vector old = moves_.gathered(active_);
    const double old_penalty = moves_.penalty_of(active_);
    Matrix old_slopes = slopes.all();
    const Vector old_active = quadratic_.gram_mode() ? moves_.slopes_of(active_) : Vector();
    const double squares = point.x.squaredNorm() - old.squaredNorm();
    moves_.scatter(active_, point.x);
    double change = moves_.penalty_of(active_) - old_penalty;
    if (quadratic_.gram_mode()) {
      slopes.replace(point.carried);
      change += slopes.difference(point.carried, (point.x - old).dot(moves_.slopes_of(active_) + old_active),
                                  squares);
    } else {
      change += slopes.difference(point.carried, 0, squares);
      slopes.replace(point.carried);
    }
    if (change < 0) return true;
    moves_.scatter(active_, old);
    slopes.replace(std::move(old_slopes));
    return false;
  }

  PenalisedQuadratic minimised_;
  const Quadratic& quadratic_;
  DescentOptions options_;
  BlockMoves moves_;
  std::vector<Index> active_;
};

}  // namespace

DescentResult descend(const PenalisedQuadratic& minimised, const ConstView& v, Vector& beta,
                      const DescentOptions& options) {
  return Descent(minimised, v, beta, options).run();
}

}  // namespace hewn::convex
