#pragma once

#include <ATen/core/Tensor.h>

#include "hewn/core/grid.h"
#include "hewn/kernels/bsr.h"

namespace hewn::prune {

/// The kept blocks of one pruned weight, for running its layer without the others. Made anew when the support
/// changes. Values and gradients of kept blocks are compact: [kept][block.cols][block.rows].
class SparseWeight {
 public:
  SparseWeight(at::Tensor leaf, const WeightLayout& layout, const at::Tensor& support);

  const WeightLayout& layout() const { return layout_; }
  const kernels::BsrPattern& pattern() const { return pattern_; }

  /// The multiplier per block for the next forward pass, differentiable; undefined: 1.
  at::Tensor gate;

  /// The gated values, as they are now.
  at::Tensor values() const;

  /// Takes the gradient of the gated values: adds the leaf's share to grad() and returns the gate's share,
  /// undefined where there is no gate.
  at::Tensor backward(const at::Tensor& grad_values, const at::Tensor& used_gate);

  /// The leaf's gradient at kept blocks, with what it got otherwise, as through a gate that depends on its
  /// norms; undefined before a backward pass.
  at::Tensor grad() const;
  void clear_grad() { grad_ = at::Tensor(); }

 private:
  /// The kept blocks of a tensor in the leaf's memory order, times a factor per block where there is one.
  at::Tensor gather(const at::Tensor& dense, const at::Tensor& factor) const;

  at::Tensor leaf_;
  WeightLayout layout_;
  kernels::BsrPattern pattern_;
  at::Tensor grad_;
};

}  // namespace hewn::prune
