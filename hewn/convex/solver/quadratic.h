#pragma once

#include <Eigen/Core>
#include <vector>

#include "hewn/convex/design/centred.h"
#include "hewn/convex/groups.h"

namespace hewn::convex {

/// One rectangle of a group in the basis where its curvature is diagonal.
struct PartBasis {
  Index column = 0;      // of its first feature among the quadratic's
  bool in_a_row = true;  // its features have consecutive columns
  std::vector<Index> columns;
  Matrix vectors;  // m x m; empty for one feature
};

/// What a block update needs to know of a group.
struct Block {
  std::vector<PartBasis> parts;
  Vector curvature;  // eigenvalues of all parts, one after the other, with ridge
  double largest = 0;
};

/// The same of a group of one coefficient, for sweeps that have nothing else.
struct SingleBlock {
  Index column = 0;
  int output = 0;
  double curvature = 0;
};

/// The quadratic  factor/2 ||X~ B||^2_weights + ridge/2 ||B||^2  on the groups met so far: eigenbases and, in
/// Gram mode, inner products between their features. Grows, never shrinks.
class Quadratic {
 public:
  Quadratic(const Centred& x, const Groups& groups, const Vector& weights, double factor, double ridge,
            bool gram);

  /// Prepares these groups; those already known cost nothing.
  void include(const std::vector<Index>& groups);
  const Block& block(Index group) const { return blocks_[to_size(index_[to_size(group)])]; }
  /// Of a group of one coefficient.
  const SingleBlock& single(Index group) const { return singles_[to_size(group)]; }
  bool has(Index group) const { return index_[to_size(group)] >= 0; }

  const Centred& x() const { return *x_; }
  const Groups& groups() const { return *groups_; }
  const Vector& weights() const { return *weights_; }
  double factor() const { return factor_; }
  void set_factor(double factor);
  double ridge() const { return ridge_; }
  bool gram_mode() const { return gram_mode_; }
  /// Forgets the inner products; block updates use residuals from now on.
  void leave_gram_mode();

  /// Features met, in the order of their columns.
  const std::vector<int>& features() const { return features_; }
  /// Inner products between columns, not yet times factor.
  Eigen::Block<const Matrix> gram() const { return gram_.topLeftCorner(columns(), columns()); }
  std::vector<Index> columns_of(const std::vector<int>& features) const;
  Index columns() const { return to_index(features_.size()); }

 private:
  void add_columns(const std::vector<int>& features);
  Matrix inner_products(const std::vector<int>& features) const;

  const Centred* x_;
  const Groups* groups_;
  const Vector* weights_;
  double factor_;
  double ridge_;
  bool gram_mode_;
  std::vector<Index> index_;  // group -> block, -1: not met
  std::vector<Block> blocks_;
  std::vector<SingleBlock> singles_;  // by group
  std::vector<Index> column_of_;      // feature -> column, -1: not met
  std::vector<int> features_;
  Matrix gram_;
};

}  // namespace hewn::convex
