#pragma once

#include <algorithm>
#include <vector>

#include "hewn/convex/layer.h"

namespace hewn::convex {

/// One column of blocks of a layer: the least-squares fit of its outputs on the chosen blocks.
class BlockColumn {
 public:
  /// `number` counts columns of blocks. The problem must outlive it.
  BlockColumn(const LayerProblem& problem, Index number, bool refit);

  /// Rows of blocks, in the order of choosing; fits anew.
  void set(std::vector<Index> chosen);
  const std::vector<Index>& chosen() const { return chosen_; }

  double loss() const { return loss_; }
  double objective() const { return loss_ + penalty_; }
  const Matrix& weight() const { return fitted_; }  // p x outputs, zero outside chosen blocks

  /// What a row of blocks that is not chosen would gain by entering, the others as they are: the norm of the
  /// gradient, or how much lower the objective would be.
  double gain(Index row, Score score) const;
  /// What each chosen one would cost by leaving, the others fitted anew: the norm of its weights, or how much
  /// higher the objective would be.
  std::vector<double> costs(Score score) const;

 private:
  Index begin(Index row) const { return row * problem_.grid.block.rows; }
  Index size(Index row) const {
    return std::min<Index>(problem_.grid.block.rows, problem_.grid.rows - begin(row));
  }
  Matrix normal_matrix() const;
  void fit();

  const LayerProblem& problem_;
  bool refit_;
  Matrix own_;     // the layer's weights
  Matrix target_;  // gram * own
  double energy_;  // of the outputs: twice the loss of nothing
  std::vector<Index> chosen_;
  Matrix fitted_;
  Matrix slope_;  // gram * (own - fitted): minus the gradient of the loss
  double loss_ = 0;
  double penalty_ = 0;
};

}  // namespace hewn::convex
