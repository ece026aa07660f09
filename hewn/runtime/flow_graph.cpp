#include "hewn/runtime/flow_graph.h"

#include <algorithm>
#include <limits>

#include "hewn/core/error.h"
#include "hewn/flow/composer.h"

namespace hewn::runtime {
namespace {

using flow::Type;
using List = std::vector<int64_t>;

flow::Tensor floats(const flow::Dims& dims, const std::vector<float>& values) {
  flow::Tensor out(flow::Spec{Type::kFloat, dims});
  if (values.size() != static_cast<size_t>(out.elements())) {
    throw Error(str("a tensor of ", flow::to_string(dims), " has ", values.size(), " numbers"));
  }
  std::copy(values.begin(), values.end(), out.values<float>().begin());
  return out;
}

/// Attributes of what slides a window over an image.
flow::Composer::Attributes window_attributes(const kernels::ConvGeometry& window) {
  // Beyond every image one stride is as good as another.
  const int64_t stride = std::min(window.stride, flow::kMostElements);
  return {{"kernel_shape", List{window.kernel_height, window.kernel_width}},
          {"strides", List{stride, stride}},
          {"pads", List(4, window.padding)},
          {"dilations", List{window.dilation, window.dilation}}};
}

class Translator {
 public:
  Translator(const ModelData& model, const List& input, Values values, const Limits& limits)
      : model_(model), input_(input), values_(values), shapes_(infer_shapes(model.graph, limits)) {}

  flow::Graph run() {
    for (size_t i = 0; i < model_.graph.nodes.size(); ++i) {
      const Node& node = model_.graph.nodes[i];
      // Layers are called what they are called in training, other nodes what they do.
      made_.push_back(translate(node, node.name.empty() ? str(name_of(node.op), i) : node.name));
    }
    const Made last = as_vector(made_.back(), "output.flat");
    return to_.finish(last.value, "output", {Type::kFloat, {-1, shapes_.back().elements()}});
  }

 private:
  /// A value, and whether it is samples x numbers; else it is samples x channels x height x width.
  struct Made {
    int32_t value = flow::kNone;
    bool vector = false;
  };

  Made translate(const Node& node, const std::string& name) {
    const Made in = node.inputs.empty() ? Made{} : made_[static_cast<size_t>(node.inputs[0])];
    switch (node.op) {
      case Op::kInput:
        return input(node);
      case Op::kLinear:
        return linear(node, as_vector(in, name + ".flat"));
      case Op::kConv2d:
        return conv2d(node, as_image(in, name));
      case Op::kRelu:
        return {to_.node("Relu", name, {in.value}), in.vector};
      case Op::kAdd:
        return add(node, name);
      case Op::kMaxPool:
        return {to_.node("MaxPool", name, {as_image(in, name).value}, window_attributes(node.window))};
      case Op::kGlobalAvgPool:
        return {to_.node("GlobalAveragePool", name, {as_image(in, name).value})};
      case Op::kFlatten:
        return as_vector(in, name);
      case Op::kSubsample:
        return subsample(node, name, as_image(in, name));
      case Op::kEmbedding:
        return embedding(node, in);
      default:
        throw Error(str("node ", name, ": ", name_of(node.op), " has no form of general tensors"));
    }
  }

  Made as_vector(const Made& in, const std::string& name) {
    return in.vector ? in : Made{to_.node("Flatten", name, {in.value}, {{"axis", int64_t{1}}}), true};
  }

  /// A vector is an image of one pixel.
  Made as_image(const Made& in, const std::string& name) {
    if (!in.vector) return in;
    return {to_.node("Unsqueeze", name + ".image", {in.value, to_.list({2, 3})})};
  }

  Made input(const Node& node) {
    if (values_ == Values::kLookedUp && takes_values(model_.graph)) return {};
    flow::Dims dims = {-1};
    dims.insert(dims.end(), input_.begin(), input_.end());
    if (input_.size() != 1 && input_.size() != 3) throw Error("inputs have neither 1 nor 3 dimensions");
    if (flow::count(input_) != node.shape.elements()) {
      throw Error(str("inputs of ", flow::to_string(dims), " are not what the network takes"));
    }
    const Type type = takes_values(model_.graph) ? Type::kInt : Type::kFloat;
    return {to_.input("input", {type, dims}), input_.size() == 1};
  }

  flow::Tensor weight(const Node& node, const flow::Dims& dims) const {
    const Layer& layer = model_.layers.at(node.name);
    return {{Type::kFloat, dims}, {layer.pattern, layer.values, node.window.taps()}};
  }
  std::vector<int32_t> with_weight(const Node& node, int32_t in, const flow::Dims& dims) {
    return {in, to_.constant(node.name + ".weight", weight(node, dims)),
            to_.constant(node.name + ".bias", floats({node.outputs}, model_.layers.at(node.name).bias))};
  }

  Made linear(const Node& node, const Made& in) {
    const int64_t inputs = model_.layers.at(node.name).pattern.grid.rows;
    const auto operands = with_weight(node, in.value, {node.outputs, inputs});
    return {to_.node("Gemm", node.name, operands, {{"transB", int64_t{1}}}), true};
  }

  Made conv2d(const Node& node, const Made& in) {
    const int64_t channels = shapes_[static_cast<size_t>(node.inputs[0])].channels;
    const kernels::ConvGeometry& window = node.window;
    const auto operands =
        with_weight(node, in.value, {node.outputs, channels, window.kernel_height, window.kernel_width});
    return {to_.node("Conv", node.name, operands, window_attributes(window))};
  }

  Made add(const Node& node, const std::string& name) {
    Made a = made_[static_cast<size_t>(node.inputs[0])];
    Made b = made_[static_cast<size_t>(node.inputs[1])];
    if (a.vector != b.vector) {
      a = as_vector(a, name + ".flat");
      b = as_vector(b, name + ".flat");
    }
    return {to_.node("Add", name, {a.value, b.value}), a.vector};
  }

  Made subsample(const Node& node, const std::string& name, const Made& in) {
    constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
    int32_t x = in.value;
    if (const int64_t stride = node.window.stride; stride != 1) {
      x = to_.node(
          "Slice", name + ".slice",
          {x, to_.list({0, 0}), to_.list({kEnd, kEnd}), to_.list({2, 3}), to_.list({stride, stride})});
    }
    return {to_.node("Pad", name, {x, to_.list({0, node.pad[0], 0, 0, 0, node.pad[1], 0, 0})})};
  }

  Made embedding(const Node& node, const Made& in) {
    const auto fields = static_cast<int64_t>(node.vocabularies.size());
    if (values_ == Values::kLookedUp)
      return {to_.input(node.name, {Type::kFloat, {-1, fields * node.width}}), true};
    flow::Tensor first(flow::Spec{Type::kInt, {fields}});
    int64_t rows = 0;
    for (size_t i = 0; i < node.vocabularies.size(); ++i) {
      first.values<int64_t>()[i] = rows;
      rows += node.vocabularies[i];
    }
    // The tables of all fields lie one behind the other.
    const int32_t row =
        to_.node("Add", node.name + ".rows",
                 {as_vector(in, "input.flat").value, to_.constant(node.name + ".first", first)});
    const int32_t table =
        to_.constant(node.name + ".weight", floats({rows, node.width}, model_.tables.at(node.name).values));
    const int32_t found = to_.node("Gather", node.name + ".values", {table, row});
    return as_vector({found}, node.name);
  }

  const ModelData& model_;
  const List& input_;
  const Values values_;
  std::vector<Shape> shapes_;
  flow::Composer to_;
  std::vector<Made> made_;
};

}  // namespace

flow::Graph flow_graph(const ModelData& model, const List& input, Values values, const Limits& limits) {
  return Translator(model, input, values, limits).run();
}

}  // namespace hewn::runtime
