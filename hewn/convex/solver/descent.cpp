#include "hewn/convex/solver/descent.h"

#include <algorithm>

#include "hewn/convex/solver/active_newton.h"
#include "hewn/convex/solver/anderson.h"
#include "hewn/convex/solver/block_moves.h"

namespace hewn::convex {
namespace {

constexpr int kSweepsBeforeNewton = 20;
constexpr double kRounding = 1e-14;
constexpr int kRoundsOfSweeps = 5;  // in which several groups may enter at once

class Descent {
 public:
  Descent(const PenalisedQuadratic& minimised, const ConstView& v, Vector& beta,
          const DescentOptions& options)
      : minimised_(minimised),
        quadratic_(minimised.quadratic),
        options_(options),
        moves_(minimised, v, beta),
        pivots_(minimised.factor != nullptr && moves_.single()) {}

  DescentResult run() {
    DescentResult result;
    result.before = worst();
    result.after = result.before;
    if (result.before <= options_.tolerance) return result;
    options_.tolerance = std::max(options_.tolerance, options_.relative * result.before);
    if (pivots_) result.sweeps += settle_active(options_.max_sweeps);
    for (int round = 0; result.sweeps < options_.max_sweeps; ++round) {
      entering_ = -1;
      result.after = !pivots_                  ? sweep(minimised_.working)
                     : round < kRoundsOfSweeps ? visit_violators()
                                               : choose_entering();
      ++result.sweeps;
      // Violations met on the way are smaller than what the sweep leaves behind; looking again is cheap here.
      if (result.after <= options_.tolerance && quadratic_.gram_mode() && !pivots_) result.after = worst();
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

  /// A sweep that passes by what is good enough: after a leap that is nearly everything.
  double visit_violators() {
    double largest = 0;
    for (const Index g : minimised_.working) {
      const double violation = moves_.violation(g);
      largest = std::max(largest, violation);
      if (violation > options_.tolerance) moves_.visit(g);
    }
    return largest;
  }

  bool has_values(Index g) { return moves_.values(g).squaredNorm() > 0 || !moves_.is_penalised(g); }

  /// The largest violation; the group without values that has the largest of those enters. One alone, at the
  /// minimum over the others, moves the way it is pulled: sweeps that let in several may go in circles.
  double choose_entering() {
    double largest = 0;
    double outside = options_.tolerance;
    for (const Index g : minimised_.working) {
      const double violation = moves_.violation(g);
      largest = std::max(largest, violation);
      if (violation <= outside || has_values(g)) continue;
      outside = violation;
      entering_ = g;
    }
    if (entering_ < 0) pivots_ = false;
    return largest;
  }

  /// Moves groups with values, and the one that enters, until they agree.
  int settle_active(int max_sweeps) {
    active_.clear();
    for (const Index g : minimised_.working) {
      if (g == entering_ || has_values(g)) active_.push_back(g);
    }
    int steps = 0;
    while (pivots_ && steps < max_sweeps && !active_.empty()) {
      ++steps;
      const std::size_t before = active_.size();
      pivots_ = leap();
      drop_zeros();
      if (pivots_ && active_.size() == before) return steps;
    }
    return active_.size() < 2 ? steps : steps + sweep_active(max_sweeps - steps);
  }

  void drop_zeros() {
    std::erase_if(active_, [&](Index g) { return !has_values(g); });
  }

  /// Sweeps over the active groups, with extrapolation.
  int sweep_active(int max_sweeps) {
    drop_zeros();
    Anderson anderson(options_.anderson);
    int sweeps = 0;
    while (sweeps < max_sweeps) {
      const double largest = sweep(active_);
      ++sweeps;
      if (largest <= options_.tolerance) break;
      if (sweeps % kSweepsBeforeNewton == 0) {
        const size_t before = active_.size();
        drop_zeros();
        const bool better = leap();
        // Points of other groups do not go together.
        if (better || active_.size() != before) anderson.clear();
        if (better) continue;
      }
      if (options_.anderson < 2) continue;
      const auto point = anderson.push(moves_.gathered(active_), moves_.slopes().all());
      if (point) accept_if_better(*point, 0);
    }
    return sweeps;
  }

  /// A Newton step over the active groups; false where none is made that is better.
  bool leap() {
    if (!quadratic_.gram_mode() || !minimised_.penalty.is_group_lasso()) return false;
    const Vector old = moves_.gathered(active_);
    const Vector slopes = moves_.slopes_of(active_);
    const Vector step =
        pivots_ ? newton_step(quadratic_, active_, minimised_.lambda, old, slopes, *minimised_.factor)
                : newton_step(quadratic_, active_, minimised_.lambda, old, slopes);
    if (step.size() == 0) return false;
    return accept_if_better({old + step, moves_.slopes_after(active_, step)}, pivots_ ? kRounding : 0);
  }

  /// `slack`: a share of the penalty by which the objective may seem to rise.
  bool accept_if_better(const Anderson::Point& point, double slack) {
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
    if (change < slack * old_penalty) return true;
    moves_.scatter(active_, old);
    slopes.replace(std::move(old_slopes));
    return false;
  }

  PenalisedQuadratic minimised_;
  const Quadratic& quadratic_;
  DescentOptions options_;
  BlockMoves moves_;
  bool pivots_;  // a factor of the active groups' Hessian is at hand, and serves
  Index entering_ = -1;
  std::vector<Index> active_;
};

}  // namespace

DescentResult descend(const PenalisedQuadratic& minimised, const ConstView& v, Vector& beta,
                      const DescentOptions& options) {
  return Descent(minimised, v, beta, options).run();
}

}  // namespace hewn::convex
