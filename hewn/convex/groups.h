#pragma once

#include <string>
#include <vector>

#include "hewn/convex/types.h"

namespace hewn::convex {

/// Some features times a range of outputs: a rectangle of the p x K coefficients. Inside a group's block of
/// values it is stored column by column.
struct Part {
  std::vector<int> features;  // ascending
  int first_output = 0;
  int outputs = 1;
  Index offset = 0;  // of its values inside the group's

  Index size() const { return to_index(features.size()) * outputs; }
};

/// A partition of the p x K coefficients. Every group is one rectangle or several.
class Groups {
 public:
  /// A feature's K coefficients are one group.
  static Groups features(Index features, Index outputs);
  /// Consecutive features, `sizes` at a time, times all outputs.
  static Groups sizes(const std::vector<Index>& sizes, Index outputs);
  /// One label per feature; groups are numbered by first appearance.
  static Groups labels(const std::vector<std::string>& labels, Index outputs);
  /// Tiles of rows x cols of the coefficient matrix, row by row, ragged at the edges.
  static Groups blocks(Index features, Index outputs, Index rows, Index cols);
  /// Lists of entries, entry (j, k) = j * outputs + k. Throws Error unless they are a partition.
  static Groups lists(Index features, Index outputs, const std::vector<std::vector<Index>>& lists);

  Index count() const { return to_index(parts_.size()); }
  Index feature_count() const { return features_; }
  Index output_count() const { return outputs_; }
  const std::vector<Part>& parts(Index group) const { return parts_[to_size(group)]; }
  /// Where a group's values start in a vector of all coefficients, group after group.
  Index start(Index group) const { return start_[to_size(group)]; }
  Index size(Index group) const { return start_[to_size(group) + 1] - start_[to_size(group)]; }
  Index total() const { return start_.back(); }

  double weight(Index group) const { return weight_[group]; }
  const Vector& weights() const { return weight_; }
  /// Non-negative and finite, one per group; 0 leaves a group unpenalised.
  void set_weights(Vector weights);
  void set_weight(Index group, double weight) { weight_[group] = weight; }
  /// What a penalty of single coefficients weighs those of a group with: 1 unless scaled, 0 where the group
  /// is not penalised.
  double single_weight(Index group) const { return weight_[group] > 0 ? factor_[group] : 0; }
  /// Multiplies what a group and its coefficients are weighed with.
  void scale_weight(Index group, double factor) {
    weight_[group] *= factor;
    factor_[group] *= factor;
  }

  /// p x K from values in group order, and back.
  Matrix spread(const Vector& values) const;
  Vector collect(const ConstView& matrix) const;
  /// The norm of each group's part of a p x K matrix.
  Vector norms(const ConstView& matrix) const;

 private:
  Groups(Index features, Index outputs) : features_(features), outputs_(outputs) {}
  void add(std::vector<Part> parts);
  void finish();

  Index features_;
  Index outputs_;
  std::vector<std::vector<Part>> parts_;
  std::vector<Index> start_ = {0};
  Vector weight_;
  Vector factor_;
};

}  // namespace hewn::convex
