#include "hewn/convex/solver/block_moves.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hewn::convex {

BlockMoves::BlockMoves(const PenalisedQuadratic& minimised, const ConstView& v, Vector& beta)
    : quadratic_(minimised.quadratic),
      groups_(quadratic_.groups()),
      penalty_(minimised.penalty),
      lambda_(minimised.lambda),
      working_(minimised.working),
      beta_(beta),
      slopes_(quadratic_.gram_mode() ? gram_slopes(quadratic_, v, beta, working_)
                                     : residual_slopes(quadratic_, v)) {
  Index largest = 1;
  for (const Index g : working_) largest = std::max(largest, groups_.size(g));
  single_ = largest == 1 && v.cols() == 1 && quadratic_.gram_mode() && penalty_.is_group_lasso();
  slope_.resize(largest);
  scratch_.u.resize(largest);
  delta_.resize(largest);
  scratch_.u2.resize(largest);
}

void BlockMoves::read(Index g) {
  const Block& block = quadratic_.block(g);
  for (std::size_t i = 0; i < block.parts.size(); ++i) {
    const Part& part = groups_.parts(g)[i];
    const Index m = to_index(part.features.size());
    const Eigen::Map<const Matrix> b(beta_.data() + groups_.start(g) + part.offset, m, part.outputs);
    slopes_->read(part, block.parts[i], b, Eigen::Map<Matrix>(slope_.data() + part.offset, m, part.outputs));
  }
}

/// Sum of q over all other groups with values.
double BlockMoves::others(Index g) {
  if (penalty_.form() == Form::kSum || penalty_.is_group_lasso()) return 0;
  double sum = 0;
  for (const Index other : working_) {
    const double norm = values(other).norm();
    if (other != g && norm > 0 && groups_.weight(other) > 0)
      sum += penalty_.scalar().value(groups_.weight(other) * norm);
  }
  return sum;
}

double BlockMoves::violation(Index g) {
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
  } else if (penalty_.is_convex()) {
    out = penalty_.of_group(groups_, g, lambda_).distance(slope, b);
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

double BlockMoves::visit(Index g) {
  if (single_) {
    const SingleStep step = step_of(g);
    beta_[groups_.start(g)] += step.step;
    const int column = static_cast<int>(quadratic_.single(g).column);
    if (step.step != 0) slopes_->change_columns({&column, 1}, &step.step);
    return step.violation / unit(g);
  }
  const double before = violation(g);
  if (before == 0 && values(g).squaredNorm() == 0) return 0;
  if (!solve(g)) return before;
  values(g) += delta_.head(groups_.size(g));
  change_slopes(g);
  return before;
}

SingleStep BlockMoves::step_of(Index g) const {
  const SingleBlock& block = quadratic_.single(g);
  return single_step(beta_[groups_.start(g)], slopes_->all()(block.column, block.output), block.curvature,
                     l(g));
}

void BlockMoves::change_slopes(Index g) {
  const Block& block = quadratic_.block(g);
  for (std::size_t i = 0; i < block.parts.size(); ++i) {
    const Part& part = groups_.parts(g)[i];
    slopes_->change(
        part, block.parts[i],
        Eigen::Map<const Matrix>(delta_.data() + part.offset, to_index(part.features.size()), part.outputs));
  }
}

/// Sets delta_ from slope_ (which must be current); false where nothing changes.
bool BlockMoves::solve(Index g) {
  const Block& block = quadratic_.block(g);
  const auto b = values(g);
  if (penalty_.singles() > 0 && l(g) > 0) {
    const SparseBlock sparse(block, groups_.parts(g), penalty_.of_group(groups_, g, lambda_));
    delta_.head(b.size()) = sparse.minimise(b, slope_.head(b.size())) - b;
    return delta_.head(b.size()).squaredNorm() > 0;
  }
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

double BlockMoves::penalty_of(const std::vector<Index>& groups) {
  if (!penalty_.is_convex() && penalty_.form() == Form::kComposed)
    return lambda_ * penalty_.scalar().inverse(others(-1));
  double sum = 0;
  for (const Index g : groups) {
    if (penalty_.singles() > 0) {
      sum += penalty_.of_group(groups_, g, 1).value(values(g));
      continue;
    }
    const double r = groups_.weight(g) * values(g).norm();
    if (r > 0) sum += penalty_.scalar().value(r);
  }
  return lambda_ * sum;
}

Vector BlockMoves::gathered(const std::vector<Index>& groups) {
  Vector out(std::accumulate(groups.begin(), groups.end(), Index{0},
                             [&](Index sum, Index g) { return sum + groups_.size(g); }));
  Index at = 0;
  for (const Index g : groups) {
    out.segment(at, groups_.size(g)) = values(g);
    at += groups_.size(g);
  }
  return out;
}

Vector BlockMoves::slopes_of(const std::vector<Index>& groups) {
  if (single_) {
    Vector out(to_index(groups.size()));
    for (std::size_t i = 0; i < groups.size(); ++i)
      out[to_index(i)] = slopes_->all()(quadratic_.single(groups[i]).column, 0);
    return out;
  }
  Vector out = gathered(groups);
  Index at = 0;
  for (const Index g : groups) {
    read(g);
    out.segment(at, groups_.size(g)) = slope_.head(groups_.size(g));
    at += groups_.size(g);
  }
  return out;
}

void BlockMoves::scatter(const std::vector<Index>& groups, const Vector& x) {
  Index at = 0;
  for (const Index g : groups) {
    values(g) = x.segment(at, groups_.size(g));
    at += groups_.size(g);
  }
}

Matrix BlockMoves::slopes_after(const std::vector<Index>& groups, const Vector& step) {
  const Matrix kept = slopes_->all();
  if (single_) {
    columns_.clear();
    for (const Index g : groups) columns_.push_back(static_cast<int>(quadratic_.single(g).column));
    slopes_->change_columns(columns_, step.data());
    Matrix out = slopes_->all();
    slopes_->replace(kept);
    return out;
  }
  Index at = 0;
  for (const Index g : groups) {
    delta_.head(groups_.size(g)) = step.segment(at, groups_.size(g));
    change_slopes(g);
    at += groups_.size(g);
  }
  Matrix out = slopes_->all();
  slopes_->replace(kept);
  return out;
}

}  // namespace hewn::convex
