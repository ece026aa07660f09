#pragma once

#include <memory>

#include "hewn/convex/solver/block_update.h"
#include "hewn/convex/solver/descent.h"
#include "hewn/convex/solver/slopes.h"
#include "hewn/convex/solver/sparse_block.h"

namespace hewn::convex {

/// One group of a penalised quadratic at a time: how far it is from optimal, and the move to its minimum with
/// all others held.
class BlockMoves {
 public:
  /// `beta` is changed in place.
  BlockMoves(const PenalisedQuadratic& minimised, const ConstView& v, Vector& beta);

  /// Distance of minus the gradient from the penalty's subdifferential, in units of the weight.
  double violation(Index g);
  /// Moves a group to the minimum over its own coefficients; its violation before.
  double visit(Index g);

  /// What the penalty of these groups is worth; a composed one: that of all.
  double penalty_of(const std::vector<Index>& groups);
  /// Values of these groups, one after the other, and minus the gradient there.
  Vector gathered(const std::vector<Index>& groups);
  Vector slopes_of(const std::vector<Index>& groups);
  void scatter(const std::vector<Index>& groups, const Vector& x);
  /// What the slopes would be had the groups' values moved by `step`.
  Matrix slopes_after(const std::vector<Index>& groups, const Vector& step);

  Slopes& slopes() { return *slopes_; }
  Eigen::Map<Vector> values(Index g) { return {beta_.data() + groups_.start(g), groups_.size(g)}; }
  /// Every group has one coefficient, of one output; the LASSO alone, with inner products.
  bool single() const { return single_; }
  bool is_penalised(Index g) const { return groups_.weight(g) > 0 && lambda_ > 0; }

 private:
  double l(Index g) const { return groups_.weight(g) > 0 ? lambda_ * groups_.weight(g) : 0; }
  /// What a violation of group g is measured by.
  double unit(Index g) const { return groups_.weight(g) > 0 ? groups_.weight(g) : 1; }
  void read(Index g);
  double others(Index g);
  SingleStep step_of(Index g) const;
  void change_slopes(Index g);
  bool solve(Index g);

  const Quadratic& quadratic_;
  const Groups& groups_;
  const Penalty& penalty_;
  double lambda_;
  const std::vector<Index>& working_;
  Vector& beta_;
  std::unique_ptr<Slopes> slopes_;
  bool single_ = false;
  std::vector<int> columns_;
  Vector slope_, delta_;
  BlockScratch scratch_;
};

}  // namespace hewn::convex
