#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hewn/kernels/update.h"
#include "hewn/prune/pruner.h"

namespace hewn::train {

struct OptimiserOptions {
  kernels::UpdateKind kind = kernels::UpdateKind::kSgd;
  double momentum = 0.9;
  bool nesterov = true;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double clip_norm = 0;  // largest norm of all gradients together; 0: no limit
};

kernels::UpdateKind parse_optimiser(const std::string& name);

/// One trained tensor with its rates.
struct Parameter {
  std::string name;
  at::Tensor tensor;
  double lr_factor = 1;
  double weight_decay = 0;
  double l1_decay = 0;
  /// Adam: its elements are measured against the mean of their second moments, so that an element with a
  /// large gradient moves further than one with a small gradient.
  bool shared_moment = false;
  /// The pruned layer whose weight this is, or null. Its dropped blocks do not change, nor does their state.
  const prune::Pruner::Layer* layer = nullptr;
};

/// SGD, Adam and AdamW in one fused pass per tensor, on a GPU in one launch for all. LibTorch's own
/// optimisers cannot leave dropped blocks alone. Of a tensor with a sparse gradient only the touched rows and
/// their moments change (lazy Adam).
class Optimiser {
 public:
  Optimiser(std::vector<Parameter> parameters, const OptimiserOptions& options);

  /// begin_step, then apply.
  void step(double lr);
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

  std::vector<Parameter> parameters_;
  std::vector<Moments> moments_;
  OptimiserOptions options_;
  int64_t steps_ = 0;
  kernels::UpdateRule rule_;  // of this step, but for what is a tensor's own
  at::Tensor gpu_step_;       // what kernels::cuda::set_step leaves; undefined on the CPU
};

}  // namespace hewn::train
