#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "hewn/deploy/gpu/fuse.h"
#include "hewn/deploy/gpu/layer.h"
#include "hewn/runtime/model_file.h"

namespace hewn::deploy {

/// An exported network run by LibTorch on one device: batch norms folded, ReLUs and sums in the same pass as
/// the layer before them, pruned layers on their kept blocks where that is faster. Its work can be recorded.
class FusedNetwork {
 public:
  /// Throws Error for a graph that LibTorch has no form of.
  FusedNetwork(const runtime::ModelData& model, const FusedOptions& options);

  /// Samples (batch x channels x height x width, or the numbers of values) as run() wants them.
  at::Tensor prepare(const at::Tensor& samples) const;
  /// batch x outputs, in the network's type.
  at::Tensor run(const at::Tensor& prepared) const;

  /// Names of the layers that run on their kept blocks alone.
  const std::vector<std::string>& on_kept_blocks() const { return on_kept_blocks_; }

 private:
  /// `b`: the second operand, or the residual.
  using Apply = std::function<at::Tensor(const at::Tensor& a, const at::Tensor& b)>;

  Apply make(const runtime::ModelData& model, const FusedStep& step);
  Apply make_weighted(const runtime::ModelData& model, const FusedStep& step);
  Apply make_embedding(const runtime::Node& node, const runtime::Table& table) const;

  FusedOptions options_;
  bool values_;  // inputs are numbers of values
  bool images_;  // some layer reads pixels
  std::vector<FusedStep> steps_;
  std::vector<int32_t> uses_;
  std::vector<Apply> apply_;
  std::vector<std::string> on_kept_blocks_;
};

}  // namespace hewn::deploy
