#pragma once

#include <string>
#include <vector>

#include "hewn/convex/types.h"
#include "hewn/flow/graph.h"
#include "hewn/flow/weights.h"

namespace hewn::refit {

using convex::Index;
using convex::Matrix;
using convex::Vector;

/// A constant that moves all outputs of a layer by the same vector: its bias, the constant that is added
/// behind it, or the mean of the batch normalisation behind it.
struct Shift {
  int32_t value = flow::kNone;
  double factor = 1;  // how much the constant changes where outputs are to move by 1
};

/// A convolution or matrix product with a constant weight, seen as (taps x channels) x outputs.
struct Layer {
  std::string name;
  size_t node = 0;
  int32_t weight = flow::kNone;
  flow::WeightKind kind = flow::WeightKind::kInOut;
  flow::Dims kernel = {};  // of a convolution
  int64_t taps = 1;
  int64_t channels = 0;
  int64_t outputs = 0;
  double scale = 1;  // what products are multiplied with: Gemm's alpha
  Vector bias = {};  // what is added to the products, in the node itself
  Shift shift = {};
  Vector importance = {};  // of each output: what batch normalisation behind it multiplies with
  std::string why_dense = {};

  int64_t rows() const { return taps * channels; }
};

/// In the order of the graph. Products of two activations are not among them.
std::vector<Layer> find_layers(const flow::Graph& graph);

/// The weight as a matrix, and back into a tensor of its own shape.
Matrix weight_matrix(const flow::Graph& graph, const Layer& layer);
flow::Tensor weight_tensor(const flow::Graph& graph, const Layer& layer, const Matrix& matrix);

/// Moves the layer's outputs, by its shift.
void move_outputs(flow::Graph& graph, const Layer& layer, const Vector& by);

}  // namespace hewn::refit
