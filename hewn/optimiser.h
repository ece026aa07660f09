#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hewn/kernels/update.h"
#include "hewn/optimiser_options.h"
#include "hewn/parameters.h"

namespace hewn {

class Pruner;

/// SGD, Adam and AdamW in one fused pass per tensor, on a GPU in one launch for all. LibTorch's own
/// optimisers cannot leave dropped blocks alone. Of a tensor with a sparse gradient only the touched rows and
/// their moments change (lazy Adam).
class Optimiser {
 public:
  /// Trains the pruner's module and its logits: each with its rate and decay, and forgets its state where the
  /// method wants that. The pruner must outlive it.
  Optimiser(Pruner& pruner, const OptimiserOptions& options);
  Optimiser(std::vector<Parameter> parameters, const OptimiserOptions& options);

  /// begin_step, then apply.
  void step(double lr);
  void step() { step(lr_); }
  /// For schedules of one's own.
  void set_lr(double lr) { lr_ = lr; }
  double lr() const { return lr_; }
  void zero_grad();

  /// Counts the step and notes its learning rate.
  void begin_step(double lr);
  /// Updates all tensors from their gradients. On a GPU what begin_step noted is read there, so that this
  /// work can be recorded and replayed; recordable says whether that holds for all tensors.
  void apply();
  bool recordable() const;

  /// Forgets momentum, moments and the number of steps.
  void reset();

  const std::vector<Parameter>& parameters() const { return parameters_; }
  int64_t steps_since_reset() const { return steps_; }
  void set_steps_since_reset(int64_t steps) { steps_ = steps; }
  /// Moments by name. Tensors are shared: copying into them restores a state.
  std::map<std::string, at::Tensor> state() const;

 private:
  struct Moments {
    at::Tensor first;
    at::Tensor second;  // undefined for SGD
  };
  at::Tensor clip_factor() const;
  void update_on_gpu(const at::Tensor& scale);
  void update_touched(size_t i, const at::Tensor& scale);

  const Pruner* pruner_ = nullptr;  // whose resets it follows
  int64_t resets_ = 0;              // of them, those it has followed
  double lr_;
  std::vector<Parameter> parameters_;
  std::vector<Moments> moments_;
  OptimiserOptions options_;
  double clip_norm_ = 0;
  kernels::UpdateKind kind_;
  int64_t steps_ = 0;
  kernels::UpdateRule rule_;  // of this step, but for what is a tensor's own
  at::Tensor gpu_step_;       // what kernels::cuda::set_step leaves; undefined on the CPU
};

}  // namespace hewn
