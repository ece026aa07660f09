#pragma once

#include <torch/nn/modules/batchnorm.h>

#include <functional>

namespace hewn::nn {

/// Sums a tensor over all processes that train together, in place.
using SumOverProcesses = std::function<void(const at::Tensor&)>;

/// torch::nn::BatchNorm2d that can also take mean and variance over the batches of several processes, as one
/// process would with the whole batch. State dict and options are the same. Not derived from it, since
/// LibTorch does not export all of that class.
class BatchNorm2dImpl : public torch::nn::NormImplBase<2, BatchNorm2dImpl, torch::nn::BatchNormOptions> {
 public:
  explicit BatchNorm2dImpl(int64_t channels) : NormImplBase(torch::nn::BatchNormOptions(channels)) {}
  at::Tensor forward(const at::Tensor& input);
  /// Null: each process normalises by itself.
  void synchronise(SumOverProcesses sum) { sum_ = std::move(sum); }

 private:
  void _check_input_dim(const at::Tensor& input) override;

  SumOverProcesses sum_;
};
TORCH_MODULE(BatchNorm2d);

/// Tells every batch-norm layer of a network. Returns how many there are.
int64_t synchronise_batch_norm(torch::nn::Module& module, const SumOverProcesses& sum);

}  // namespace hewn::nn
