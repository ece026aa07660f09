#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

namespace hewn::nn {

/// One table per field, stored one behind the other as a single parameter, `weight`. Its gradient is a sparse
/// tensor (rows x width) of what the batch touched, so that a step costs the same whatever the vocabularies
/// hold.
class EmbeddingTableImpl : public torch::nn::Module {
 public:
  /// Rows start from a normal distribution with that deviation.
  EmbeddingTableImpl(std::vector<int64_t> vocabularies, int64_t width, double deviation);

  /// int32 samples x fields -> float samples x (fields * width). Throws Error for a value outside its
  /// vocabulary (on CUDA the output is NaN instead: nothing waits for the device).
  at::Tensor forward(const at::Tensor& values);

  int64_t fields() const { return static_cast<int64_t>(vocabularies_.size()); }
  int64_t width() const { return width_; }
  const std::vector<int64_t>& vocabularies() const { return vocabularies_; }

  at::Tensor weight;

 private:
  std::vector<int64_t> vocabularies_;
  int64_t width_;
  at::Tensor first_;  // of each field's rows; not part of the state dict
  at::Tensor slots_;  // scratch of number_rows, one per row, made on the first backward pass
};
TORCH_MODULE(EmbeddingTable);

}  // namespace hewn::nn
