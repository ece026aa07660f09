#include "hewn/flow/lower/axis_view.h"

#include <algorithm>
#include <set>

namespace hewn::flow {
namespace {

using Views = std::optional<AxisView>;

/// Takes the factors of one dimension of so many indices off the front of a list.
bool take(std::vector<Factor>& list, int64_t size, std::vector<Factor>& dim) {
  while (size > 1) {
    if (list.empty()) return false;
    Factor& front = list.front();
    if (size % front.size == 0) {
      size /= front.size;
      dim.push_back(front);
      list.erase(list.begin());
    } else if (front.size % size == 0) {
      front.size /= size;
      dim.push_back({size, front.axis, front.step * front.size});
      size = 1;
    } else {
      return false;
    }
  }
  return true;
}

Views reshaped(const AxisView& input, const Dims& dims) {
  std::vector<Factor> list;
  for (const auto& dim : input.dims) list.insert(list.end(), dim.begin(), dim.end());
  AxisView out{input.source, input.first, {}};
  for (const int64_t size : dims) {
    out.dims.emplace_back();
    if (!take(list, size, out.dims.back())) return std::nullopt;
  }
  return out;
}

/// `size` indices of a dimension from `start` on.
bool cut(AxisView& view, int64_t axis, int64_t start, int64_t size, int64_t all) {
  if (size == all) return true;
  auto& dim = view.dims[static_cast<size_t>(axis)];
  if (dim.size() != 1) return false;
  view.first[static_cast<size_t>(dim[0].axis)] += start * dim[0].step;
  dim[0].size = size;
  if (size == 1) dim.clear();
  return true;
}

/// The numbers of a constant input, or nothing.
std::optional<std::vector<int64_t>> list(const Builder& builder, const Node& node, size_t input) {
  const Tensor* tensor = input < node.inputs.size() && node.inputs[input] != kNone
                             ? builder.constant(node.inputs[input])
                             : nullptr;
  if (tensor == nullptr || tensor->type() != Type::kInt) return std::nullopt;
  return std::vector<int64_t>(tensor->values<int64_t>().begin(), tensor->values<int64_t>().end());
}

Views sliced(const Builder& builder, const Node& node, AxisView view) {
  const auto starts = list(builder, node, 1);
  const auto axes = list(builder, node, 3);
  const auto steps = list(builder, node, 4);
  if (!starts || !axes || starts->size() != axes->size()) return std::nullopt;
  if (node.inputs.size() > 4 && node.inputs[4] != kNone &&
      (!steps || std::any_of(steps->begin(), steps->end(), [](int64_t step) { return step != 1; }))) {
    return std::nullopt;
  }
  const Dims& in = builder.spec(node.inputs[0]).dims;
  const Dims& out = builder.spec(node.outputs[0]).dims;
  for (size_t i = 0; i < axes->size(); ++i) {
    const int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + static_cast<int64_t>(in.size()) : (*axes)[i];
    const int64_t all = in[static_cast<size_t>(axis)];
    const int64_t start = (*starts)[i] < 0 ? std::max<int64_t>(0, (*starts)[i] + all) : (*starts)[i];
    if (!cut(view, axis, start, out[static_cast<size_t>(axis)], all)) return std::nullopt;
  }
  return view;
}

Views split(const Builder& builder, const Node& node, int32_t output, AxisView view) {
  const Dims& in = builder.spec(node.inputs[0]).dims;
  int64_t axis = node.integer("axis", 0);
  if (axis < 0) axis += static_cast<int64_t>(in.size());
  int64_t start = 0;
  for (const int32_t value : node.outputs) {
    if (value == kNone) return std::nullopt;
    const int64_t size = builder.spec(value).dims[static_cast<size_t>(axis)];
    if (value == output) {
      return cut(view, axis, start, size, in[static_cast<size_t>(axis)]) ? Views(view) : std::nullopt;
    }
    start += size;
  }
  return std::nullopt;
}

/// One index of an axis.
Views gathered(const Builder& builder, const Node& node, AxisView view) {
  const auto index = list(builder, node, 1);
  if (!index || index->size() != 1) return std::nullopt;
  const Dims& in = builder.spec(node.inputs[0]).dims;
  int64_t axis = node.integer("axis", 0);
  if (axis < 0) axis += static_cast<int64_t>(in.size());
  const int64_t all = in[static_cast<size_t>(axis)];
  const int64_t at = (*index)[0] < 0 ? (*index)[0] + all : (*index)[0];
  if (at < 0 || at >= all || !cut(view, axis, at, 1, all)) return std::nullopt;
  const auto place = view.dims.begin() + axis;
  view.dims.insert(view.dims.erase(place), builder.spec(node.inputs[1]).dims.size(), {});
  return view;
}

Views transposed(const Node& node, const AxisView& input) {
  AxisView out{input.source, input.first, {}};
  const std::vector<int64_t> order = node.integers("perm");
  if (order.empty()) out.dims.assign(input.dims.rbegin(), input.dims.rend());
  for (const int64_t axis : order) out.dims.push_back(input.dims[static_cast<size_t>(axis)]);
  return out;
}

}  // namespace

AxisView view_of_itself(const Builder& builder, int32_t value) {
  AxisView out{value, std::vector<int64_t>(builder.spec(value).dims.size(), 0), {}};
  for (const int64_t size : builder.spec(value).dims) {
    const auto axis = static_cast<int64_t>(out.dims.size());
    out.dims.emplace_back();
    if (size != 1) out.dims.back().push_back({size, axis, 1});
  }
  return out;
}

Views view_through(const Builder& builder, const Node& node, int32_t output, const AxisView& input) {
  static const std::set<std::string> kShapes = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"};
  if (kShapes.contains(node.op)) return reshaped(input, builder.spec(output).dims);
  if (node.op == "Transpose") return transposed(node, input);
  if (node.op == "Slice") return sliced(builder, node, input);
  if (node.op == "Split") return split(builder, node, output, input);
  if (node.op == "Gather") return gathered(builder, node, input);
  return std::nullopt;
}

AxisView view_up(const Builder& builder, int32_t value, float* scale) {
  const int32_t maker = builder.maker(value);
  if (maker == kNone || builder.spec(value).elements() == 0) return view_of_itself(builder, value);
  const Node& node = builder.graph().nodes[static_cast<size_t>(maker)];
  int32_t input = kNone;
  if (const auto factor = scale == nullptr ? std::nullopt : factor_of(builder, node, input)) {
    *scale *= *factor;
    return view_up(builder, input, scale);
  }
  if (node.inputs.empty() || node.inputs[0] == kNone) return view_of_itself(builder, value);
  // Whether it moves numbers in a way that can be followed does not depend on what it is given, unless the
  // numbers were split before; then they are taken from here.
  float further = scale == nullptr ? 1 : *scale;
  const AxisView up = view_up(builder, node.inputs[0], scale == nullptr ? nullptr : &further);
  Views out = view_through(builder, node, value, up);
  if (!out) return view_of_itself(builder, value);
  if (scale != nullptr) *scale = further;
  return *out;
}

std::optional<float> factor_of(const Builder& builder, const Node& node, int32_t& input) {
  if ((node.op != "Mul" && node.op != "Div") || node.inputs.size() != 2) return std::nullopt;
  for (size_t side = node.op == "Div" ? 1 : 0; side < 2; ++side) {
    const Tensor* tensor = builder.constant(node.inputs[side]);
    const int32_t other = node.inputs[1 - side];
    if (tensor == nullptr || tensor->type() != Type::kFloat || tensor->elements() != 1 ||
        builder.spec(other) != builder.spec(node.outputs[0])) {
      continue;
    }
    input = other;
    const float number = tensor->values<float>()[0];
    return node.op == "Div" ? 1 / number : number;
  }
  return std::nullopt;
}

}  // namespace hewn::flow
