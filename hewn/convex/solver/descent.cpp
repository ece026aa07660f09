#include "hewn/convex/solver/descent.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hewn/convex/solver/active_newton.h"
#include "hewn/convex/solver/anderson.h"
#include "hewn/convex/solver/block_update.h"
#include "hewn/convex/solver/slopes.h"

namespace hewn::convex {
namespace {

constexpr int kSweepsBeforeNewton = 20;

class Descent {
 public:
  Descent(const PenalisedQuadratic& minimised, const ConstView& v, Vector& beta,
          const DescentOptions& options)
      : quadratic_(minimised.quadratic),
        groups_(quadratic_.groups()),
        penalty_(minimised.penalty),
        lambda_(minimised.lambda),
        working_(minimised.working),
        beta_(beta),
        options_(options),
        slopes_(quadratic_.gram_mode() ? gram_slopes(quadratic_, v, beta, working_)
                                       : residual_slopes(quadratic_, v)) {
    Index largest = 1;
    for (const Index g : working_) largest = std::max(largest, groups_.size(g));
    single_ = largest == 1 && quadratic_.gram_mode() && penalty_.is_group_lasso();
    slope_.resize(largest);
    scratch_.u.resize(largest);
    delta_.resize(largest);
    scratch_.u2.resize(largest);
  }

  DescentResult run() {
    DescentResult result;
    result.before = worst();
    result.after = result.before;
    if (result.before <= options_.tolerance) return result;
    while (result.sweeps < options_.max_sweeps) {
      result.after = sweep(working_);
      ++result.sweeps;
      // Violations met on the way are smaller than what the sweep leaves behind; looking again is cheap here.
      if (result.after <= options_.tolerance && quadratic_.gram_mode()) result.after = worst();
      if (result.after <= options_.tolerance) break;
      result.sweeps += settle_active(options_.max_sweeps - result.sweeps);
    }
    return result;
  }

 private:
  double l(Index g) const { return groups_.weight(g) > 0 ? lambda_ * groups_.weight(g) : 0; }
  /// What a violation of group g is measured by.
  double unit(Index g) const { return groups_.weight(g) > 0 ? groups_.weight(g) : 1; }
  Eigen::Map<Vector> values(Index g) { return {beta_.data() + groups_.start(g), groups_.size(g)}; }

  void read(Index g) {
    const Block& block = quadratic_.block(g);
    for (std::size_t i = 0; i < block.parts.size(); ++i) {
      const Part& part = groups_.parts(g)[i];
      const Index m = to_index(part.features.size());
      const Eigen::Map<const Matrix> b(beta_.data() + groups_.start(g) + part.offset, m, part.outputs);
      slopes_->read(part, block.parts[i], b,
                    Eigen::Map<Matrix>(slope_.data() + part.offset, m, part.outputs));
    }
  }

  /// Sum of q over all other groups with values.
  double others(Index g) {
    if (penalty_.form() == Form::kSum || penalty_.is_group_lasso()) return 0;
    double sum = 0;
    for (const Index other : working_) {
      const double norm = values(other).norm();
      if (other != g && norm > 0 && groups_.weight(other) > 0)
        sum += penalty_.scalar().value(groups_.weight(other) * norm);
    }
    return sum;
  }

  /// Distance of minus the gradient from the penalty's subdifferential, in units of the weight.
  double violation(Index g) {
    if (single_) return step_of(g).violation / unit(g);
    read(g);
    const auto b = values(g);
    const auto slope = slope_.head(groups_.size(g));
    const double norm = b.norm();
    double out = 0;
    if (l(g) == 0) {
      out = slope.norm();
    } else if (penalty_.is_group_lasso()) {
      out = norm > 0 ? (slope - l(g) / norm * b).norm() : std::max(0.0, slope.norm() - l(g));
    } else {
      const Along along{&penalty_, lambda_, groups_.weight(g), others(g)};
      // Where zero is a local minimum whatever the slope, only the block update knows a better one.
      out = norm > 0 ? (slope - along.slope_over(norm) * b).norm()
            : std::isinf(along.slope_at_zero())
                ? (solve(g) ? delta_.head(b.size()).norm() * quadratic_.block(g).largest : 0)
                : std::max(0.0, slope.norm() - along.slope_at_zero());
    }
    return out / unit(g);
  }

  /// Moves a group to the minimum over its own coefficients; its violation before.
  double visit(Index g) {
    if (single_) {
      const SingleStep step = step_of(g);
      delta_[0] = step.step;
      beta_[groups_.start(g)] += step.step;
      if (step.step != 0) change_slopes(g);
      return step.violation / unit(g);
    }
    const double before = violation(g);
    if (before == 0 && values(g).squaredNorm() == 0) return 0;
    if (!solve(g)) return before;
    values(g) += delta_.head(groups_.size(g));
    change_slopes(g);
    return before;
  }

  SingleStep step_of(Index g) const {
    const Block& block = quadratic_.block(g);
    const double slope = slopes_->all()(block.parts.front().column, groups_.parts(g).front().first_output);
    return single_step(beta_[groups_.start(g)], slope, block.largest, l(g));
  }

  void change_slopes(Index g) {
    const Block& block = quadratic_.block(g);
    for (std::size_t i = 0; i < block.parts.size(); ++i) {
      const Part& part = groups_.parts(g)[i];
      slopes_->change(part, block.parts[i],
                      Eigen::Map<const Matrix>(delta_.data() + part.offset, to_index(part.features.size()),
                                               part.outputs));
    }
  }

  /// Sets delta_ from slope_ (which must be current); false where nothing changes.
  bool solve(Index g) {
    const Block& block = quadratic_.block(g);
    const auto b = values(g);
    const Spectrum spectrum = to_eigenbasis(block, groups_.parts(g), b.data(), slope_.data(), scratch_);
    const double nu = penalty_.is_group_lasso()
                          ? lasso_multiplier(spectrum, l(g), b.norm())
                          : multiplier(spectrum, {&penalty_, lambda_, groups_.weight(g), others(g)});
    if (std::isinf(nu)) {
      delta_.head(b.size()) = -b;
      return b.squaredNorm() > 0;
    }
    from_eigenbasis(block, groups_.parts(g), nu, scratch_, delta_.data());
    delta_.head(b.size()) -= b;
    return true;
  }

  double worst() {
    double out = 0;
    for (const Index g : working_) out = std::max(out, violation(g));
    return out;
  }

  double sweep(const std::vector<Index>& groups) {
    double largest = 0;
    for (const Index g : groups) largest = std::max(largest, visit(g));
    return largest;
  }

  /// Sweeps over groups with values until they agree, with extrapolation.
  int settle_active(int max_sweeps) {
    active_.clear();
    for (const Index g : working_) {
      if (values(g).squaredNorm() > 0 || l(g) == 0) active_.push_back(g);
    }
    if (active_.size() < 2) return 0;
    Anderson anderson(options_.anderson);
    int sweeps = 0;
    while (sweeps < max_sweeps) {
      const double largest = sweep(active_);
      ++sweeps;
      if (largest <= options_.tolerance) break;
      if (sweeps % kSweepsBeforeNewton == 0) {
        const size_t before = active_.size();
        const bool better = leap();
        // Points of other groups do not go together.
        if (better || active_.size() != before) anderson.clear();
        if (better) continue;
      }
      if (options_.anderson < 2) continue;
      const auto point = anderson.push(gathered(), slopes_->all());
      if (point) accept_if_better(*point);
    }
    return sweeps;
  }

  /// A Newton step over the active groups where sweeps crawl; false where none is made that is better.
  bool leap() {
    if (!quadratic_.gram_mode() || !penalty_.is_group_lasso()) return false;
    std::erase_if(active_, [&](Index g) { return values(g).squaredNorm() == 0 && l(g) > 0; });
    const Vector old = gathered();
    const Vector step = newton_step(quadratic_, active_, lambda_, old, active_slopes());
    if (step.size() == 0) return false;
    const Matrix kept = slopes_->all();
    Index at = 0;
    for (const Index g : active_) {
      delta_.head(groups_.size(g)) = step.segment(at, groups_.size(g));
      change_slopes(g);
      at += groups_.size(g);
    }
    Matrix carried = slopes_->all();
    slopes_->replace(kept);
    return accept_if_better({old + step, std::move(carried)});
  }

  Index active_size() const {
    return std::accumulate(active_.begin(), active_.end(), Index{0},
                           [&](Index sum, Index g) { return sum + groups_.size(g); });
  }
  Vector gathered() {
    Vector out(active_size());
    Index at = 0;
    for (const Index g : active_) {
      out.segment(at, groups_.size(g)) = values(g);
      at += groups_.size(g);
    }
    return out;
  }
  void scatter(const Vector& x) {
    Index at = 0;
    for (const Index g : active_) {
      values(g) = x.segment(at, groups_.size(g));
      at += groups_.size(g);
    }
  }
  double penalty_value() {
    if (!penalty_.is_group_lasso() && penalty_.form() == Form::kComposed)
      return lambda_ * penalty_.scalar().inverse(others(-1));
    double sum = 0;
    for (const Index g : active_) {
      const double r = groups_.weight(g) * values(g).norm();
      if (r > 0) sum += penalty_.scalar().value(r);
    }
    return lambda_ * sum;
  }
  /// Minus the gradient at the active coefficients, as a vector like gathered().
  Vector active_slopes() {
    Vector out(active_size());
    Index at = 0;
    for (const Index g : active_) {
      read(g);
      out.segment(at, groups_.size(g)) = slope_.head(groups_.size(g));
      at += groups_.size(g);
    }
    return out;
  }

  bool accept_if_better(const Anderson::Point& point) {
    const Vector old = gathered();
    const double old_penalty = penalty_value();
    Matrix old_slopes = slopes_->all();
    const Vector old_active = quadratic_.gram_mode() ? active_slopes() : Vector();
    const double squares = point.x.squaredNorm() - old.squaredNorm();
    scatter(point.x);
    double change = penalty_value() - old_penalty;
    if (quadratic_.gram_mode()) {
      slopes_->replace(point.carried);
      change +=
          slopes_->difference(point.carried, (point.x - old).dot(active_slopes() + old_active), squares);
    } else {
      change += slopes_->difference(point.carried, 0, squares);
      slopes_->replace(point.carried);
    }
    if (change < 0) return true;
    scatter(old);
    slopes_->replace(std::move(old_slopes));
    return false;
  }

  const Quadratic& quadratic_;
  const Groups& groups_;
  const Penalty& penalty_;
  double lambda_;
  const std::vector<Index>& working_;
  Vector& beta_;
  DescentOptions options_;
  std::unique_ptr<Slopes> slopes_;
  std::vector<Index> active_;
  bool single_ = false;  // every group has one coefficient, the LASSO alone
  Vector slope_, delta_;
  BlockScratch scratch_;
};

}  // namespace

DescentResult descend(const PenalisedQuadratic& minimised, const ConstView& v, Vector& beta,
                      const DescentOptions& options) {
  return Descent(minimised, v, beta, options).run();
}

}  // namespace hewn::convex
