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

/// SGD, Adam and AdamW in one fused pass per tensor. LibTorch's own optimisers cannot leave dropped blocks
/// alone. Of a tensor with a sparse gradient only the touched rows and their moments change (lazy Adam).
class Optimiser {
 public:
  Optimiser(std::vector<Parameter> parameters, const OptimiserOptions& options);

  void step(double lr);
  void zero_grad();
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

  std::vector<Parameter> parameters_;
  std::vector<Moments> moments_;
  OptimiserOptions options_;
  int64_t steps_ = 0;
};

}  // namespace hewn::train
