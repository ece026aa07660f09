#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hewn/runtime/model_file.h"

namespace hewn::measure {

/// The weight of a node's layer as LibTorch stores it: out x in, or out x in x height x width, with zeros
/// where blocks were dropped.
at::Tensor dense_weight(const runtime::Node& node, const runtime::Layer& layer);

/// A runtime graph run by LibTorch's operators, with dense weights: zeros where blocks were dropped. Batch
/// norms are folded already, so this is less work than the model it came from.
class DenseGraph {
 public:
  /// Which operators run it, and the order of activations and weights in memory.
  enum class Way {
    kPlain,             // NCHW; at::linear
    kChannelsLast,      // graphs of images only
    kOneDnn,            // its own blocked order; linear layers as 1x1 convolutions
    kTransposed,        // graphs of vectors only: at::addmm with weights transposed before
    kVector,            // and at batch 1: at::addmv
    kVectorTransposed,  // with weights transposed before
  };
  /// Those that make sense for a graph and a batch. Some may throw when they are run.
  static std::vector<Way> ways(const runtime::Graph& graph, int64_t batch);

  /// Throws Error for a graph that does not hold together.
  DenseGraph(const runtime::ModelData& model, Way way);

  std::string name() const;
  /// Samples (batch x channels x height x width) in the order in which run() wants them.
  at::Tensor prepare(const at::Tensor& samples) const;
  /// batch x outputs.
  at::Tensor run(const at::Tensor& prepared) const;

 private:
  using Apply = std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>;

  Apply make(const runtime::ModelData& model, const runtime::Node& node) const;
  Apply make_linear(const at::Tensor& weight, const at::Tensor& bias) const;
  Apply make_conv(const at::Tensor& weight, const at::Tensor& bias,
                  const kernels::ConvGeometry& window) const;
  Apply make_subsample(const runtime::Node& node) const;
  Apply make_embedding(const runtime::Node& node, const runtime::Table& table) const;
  /// Whether nothing else sees what the node made: it may be overwritten.
  bool own(const runtime::Graph& graph, int32_t node) const;

  struct Operation {
    int32_t a = -1;
    int32_t b = -1;  // may be none
    Apply apply;
  };

  Way way_;
  bool vectors_;  // no node needs pixels
  bool values_;   // inputs are numbers of values
  std::vector<int32_t> uses_;
  std::vector<Operation> operations_;  // one per node
};

}  // namespace hewn::measure
