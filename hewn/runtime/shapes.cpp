#include "hewn/runtime/shapes.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "hewn/core/error.h"

namespace hewn::runtime {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

/// The shape behind a window that slides over `in`.
Shape slide(const kernels::ConvGeometry& window, const Shape& in, int64_t channels) {
  const int64_t height_over =
      in.height + 2 * window.padding - window.dilation * (window.kernel_height - 1) - 1;
  const int64_t width_over = in.width + 2 * window.padding - window.dilation * (window.kernel_width - 1) - 1;
  if (height_over < 0 || width_over < 0) {
    throw Error(str("a window of ", window.kernel_height, "x", window.kernel_width,
                    " is larger than its input of ", to_string(in)));
  }
  return {channels, height_over / window.stride + 1, width_over / window.stride + 1};
}

/// Only the input holds numbers of values: what a layer makes are other numbers.
Shape embed(const Node& node, const Shape& in) {
  if (node.inputs[0] != 0) throw Error("stands elsewhere than behind the input");
  if (in != Shape{static_cast<int64_t>(node.vocabularies.size()), 1, 1}) {
    throw Error(str("has ", node.vocabularies.size(), " vocabularies for an input of ", to_string(in)));
  }
  for (size_t i = 0; i < node.vocabularies.size(); ++i) {
    if (node.vocabularies[i] < 1 || node.vocabularies[i] > kMaxVocabulary) {
      throw Error(
          str("field ", i, " takes ", node.vocabularies[i], " values, outside 1 to ", kMaxVocabulary));
    }
  }
  return {saturating_product(in.channels, node.width), 1, 1};
}

Shape infer(const Node& node, const std::vector<Shape>& shapes) {
  const auto in = [&](size_t i) { return shapes[static_cast<size_t>(node.inputs[i])]; };
  switch (node.op) {
    case Op::kInput:
      return node.shape;
    case Op::kLinear:
      if (in(0).height != 1 || in(0).width != 1) {
        throw Error(str("a linear layer needs a vector, not ", to_string(in(0))));
      }
      return {node.outputs, 1, 1};
    case Op::kConv2d:
      return slide(node.window, in(0), node.outputs);
    case Op::kMaxPool:
      if (node.window.padding > (node.window.kernel_height - 1) * node.window.dilation / 2 ||
          node.window.padding > (node.window.kernel_width - 1) * node.window.dilation / 2) {
        throw Error("the padding of a pooling window is more than half of it");
      }
      return slide(node.window, in(0), in(0).channels);
    case Op::kAdd:
      if (in(0) != in(1)) throw Error(str("adds ", to_string(in(0)), " and ", to_string(in(1))));
      return in(0);
    case Op::kBatchNorm:
    case Op::kRelu:
      return in(0);
    case Op::kGlobalAvgPool:
      return {in(0).channels, 1, 1};
    case Op::kFlatten:
      return {in(0).elements(), 1, 1};
    case Op::kSubsample:
      return {in(0).channels + node.pad[0] + node.pad[1], (in(0).height - 1) / node.window.stride + 1,
              (in(0).width - 1) / node.window.stride + 1};
    case Op::kEmbedding:
      return embed(node, in(0));
  }
  throw Error("op outside the table");
}

int64_t work(const Node& node, const std::vector<Shape>& shapes, const Shape& out) {
  if (node.op == Op::kInput) return 0;
  const Shape& in = shapes[static_cast<size_t>(node.inputs[0])];
  if (has_weight(node)) return saturating_product(weight_rows(node, in), out.elements());
  if (node.op == Op::kMaxPool) return saturating_product(node.window.taps(), out.elements());
  return in.elements() + out.elements();
}

}  // namespace

int64_t saturating_product(int64_t a, int64_t b) { return b > 0 && a > kHuge / b ? kHuge : a * b; }

int64_t weight_rows(const Node& node, const Shape& input) {
  return node.op == Op::kLinear ? input.channels : node.window.taps() * input.channels;
}

int64_t table_rows(const Node& node) {
  return std::accumulate(node.vocabularies.begin(), node.vocabularies.end(), int64_t{0});
}

void check_size(const Shape& shape, int64_t border, const Limits& limits) {
  const int64_t pixels = saturating_product(shape.height + 2 * border, shape.width + 2 * border);
  if (saturating_product(pixels, shape.channels) <= limits.value_floats) return;
  throw Error(str("an activation of ", to_string(shape), " with a border of ", border, " has more than ",
                  limits.value_floats, " floats a sample"));
}

std::vector<Shape> infer_shapes(const Graph& graph, const Limits& limits) {
  std::vector<Shape> shapes;
  int64_t products = 0;
  int64_t table_floats = 0;
  const bool values = takes_values(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    try {
      shapes.push_back(infer(node, shapes));
      check_size(shapes.back(), 0, limits);
      if (values && node.op != Op::kEmbedding && std::count(node.inputs.begin(), node.inputs.end(), 0) > 0) {
        throw Error("reads value numbers, which only an embedding can");
      }
    } catch (const Error& error) {
      throw Error(str("graph node ", i, " (", name_of(node.op), "): ", error.what()));
    }
    const int64_t more = work(node, shapes, shapes.back());
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
