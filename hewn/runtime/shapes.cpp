#include "hewn/runtime/shapes.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "hewn/core/error.h"
#include "hewn/flow/tensor.h"
#include "hewn/runtime/op/operator.h"

namespace hewn::runtime {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

/// The shapes that a node reads.
std::vector<Shape> shapes_into(const Node& node, const std::vector<Shape>& shapes) {
  std::vector<Shape> in;
  for (const int32_t i : node.inputs) in.push_back(shapes[static_cast<size_t>(i)]);
  return in;
}

void check_activation(const Shape& shape, const Limits& limits) {
  const int64_t pixels = saturating_product(shape.height, shape.width);
  if (saturating_product(pixels, shape.channels) <= limits.value_floats) return;
  throw Error(
      str("an activation of ", to_string(shape), " has more than ", limits.value_floats, " floats a sample"));
}

/// Each has one entry for every input and output of the layer.
void check_weight(const Node& node, const Shape& input) {
  const int64_t rows = weight_rows(node, input);
  if (saturating_product(rows, node.outputs) <= flow::kMostElements) return;
  throw Error(
      str("a weight of ", rows, "x", node.outputs, " has more than ", flow::kMostElements, " numbers"));
}

}  // namespace

int64_t saturating_product(int64_t a, int64_t b) { return b > 0 && a > kHuge / b ? kHuge : a * b; }

int64_t weight_rows(const Node& node, const Shape& input) { return node.window.taps() * input.channels; }

int64_t table_rows(const Node& node) {
  return std::accumulate(node.vocabularies.begin(), node.vocabularies.end(), int64_t{0});
}

std::vector<Shape> infer_shapes(const Graph& graph, const Limits& limits) {
  std::vector<Shape> shapes;
  int64_t products = 0;
  int64_t table_floats = 0;
  const bool values = takes_values(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const Operator& op = operator_of(node.op);
    const std::vector<Shape> in = shapes_into(node, shapes);
    try {
      shapes.push_back(op.shape(node, in));
      check_activation(shapes.back(), limits);
      if (has_weight(node)) check_weight(node, in[0]);
      if (values && !has_table(node) && std::count(node.inputs.begin(), node.inputs.end(), 0) > 0) {
        throw Error("reads value numbers, which only an embedding can");
      }
    } catch (const Error& error) {
      throw Error(str("graph node ", i, " (", op.name, "): ", error.what()));
    }
    const int64_t more = op.cost(node, in, shapes.back());
    if (more > limits.products - products) {
      throw Error(str("the graph needs more than ", limits.products, " multiply-adds a sample"));
    }
    products += more;
    const int64_t floats = saturating_product(table_rows(node), node.width);
    if (floats > limits.table_floats - table_floats) {
      throw Error(str("the embeddings need more than ", limits.table_floats, " floats"));
    }
    table_floats += floats;
  }
  return shapes;
}

}  // namespace hewn::runtime
