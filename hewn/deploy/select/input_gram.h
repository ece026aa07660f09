#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "hewn/prune/pruner.h"

namespace hewn::deploy {

/// Sums over the inputs of one layer, in double precision on their device. Watches the layer while it lives;
/// no input is kept.
class InputGram {
 public:
  /// The slot must be one that can be watched, and outlive this.
  explicit InputGram(const prune::WeightSlot& slot);
  ~InputGram();
  InputGram(const InputGram&) = delete;
  InputGram& operator=(const InputGram&) = delete;

  int64_t rows() const { return rows_; }
  at::Tensor mean() const;  // of each input, on the CPU
  /// Mean of x x' over all rows, on the CPU; `centred`: of x less its mean.
  at::Tensor gram(bool centred) const;

 private:
  void see(const at::Tensor& input);

  const prune::WeightSlot& slot_;
  at::Tensor products_;
  at::Tensor sum_;
  int64_t rows_ = 0;
};

}  // namespace hewn::deploy
