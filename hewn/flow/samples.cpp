#include "hewn/flow/samples.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

namespace hewn::flow {
namespace {

/// Where the samples are in a value: along this axis, whose indices are (before, sample, rest).
struct Along {
  int64_t axis = 0;
  int64_t before = 1;

  bool operator==(const Along&) const = default;
};
constexpr Along kAlike = {-1, 1};   // the value is the same for all samples
using Axis = std::optional<Along>;  // nothing: it cannot be seen

const std::set<std::string> kNumberOperators = {
    "Abs",  "Cast",        "Ceil",      "Clip",     "Dropout",   "Elu",  "Erf", "Exp", "Floor",
    "Gelu", "HardSigmoid", "HardSwish", "Identity", "LeakyRelu", "Log",  "Neg", "Not", "Reciprocal",
    "Relu", "Round",       "Sigmoid",   "Sign",     "Softplus",  "Sqrt", "Tanh"};
const std::set<std::string> kPairOperators = {
    "Add", "And",   "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual",
    "Max", "Min",   "Mod", "Mul",   "Or",      "PRelu",          "Pow",  "Sub",
    "Sum", "Where", "Xor"};
const std::set<std::string> kImageOperators = {
    "AveragePool",   "BatchNormalization",    "Conv",    "DepthToSpace", "GlobalAveragePool",
    "GlobalMaxPool", "InstanceNormalization", "MaxPool", "SpaceToDepth"};
const std::set<std::string> kShapeOperators = {"Flatten", "Reshape", "Squeeze", "Unsqueeze"};

class Samples {
 public:
  Samples(const Special& special, int64_t samples)
      : special_(special), samples_(samples), along_(special.graph.values.size(), kAlike) {}

  bool apart() {
    for (const Port& port : special_.graph.inputs) along_[static_cast<size_t>(port.value)] = {};
    for (const Node& node : special_.graph.nodes) {
      const Axis out = follow(node);
      if (!out) return false;
      for (const int32_t value : node.outputs) {
        if (value == kNone) continue;
        if (*out != kAlike && (out->axis < 0 || out->axis >= rank(value) ||
                               dims(value)[static_cast<size_t>(out->axis)] % (out->before * samples_) != 0)) {
          return false;
        }
        along_[static_cast<size_t>(value)] = *out;
      }
    }
    return std::all_of(special_.graph.outputs.begin(), special_.graph.outputs.end(), [&](const Port& port) {
      return along(port.value) == Along{} && dims(port.value)[0] == samples_;
    });
  }

 private:
  const Dims& dims(int32_t value) const { return special_.specs[static_cast<size_t>(value)].dims; }
  int64_t rank(int32_t value) const { return static_cast<int64_t>(dims(value).size()); }
  Along along(int32_t value) const { return value == kNone ? kAlike : along_[static_cast<size_t>(value)]; }
  int64_t axis(int32_t value) const { return along(value).axis; }
  bool alike(int32_t value) const { return along(value) == kAlike; }
  bool same(const Node& node, size_t from) const {
    return std::all_of(node.inputs.begin() + static_cast<int64_t>(std::min(from, node.inputs.size())),
                       node.inputs.end(), [&](int32_t value) { return alike(value); });
  }
  /// A value that is the same for all fits beside others whose samples lie along this axis: it is stretched
  /// over them, or repeats itself.
  bool repeats(int32_t value, const Along& place) const {
    if (place.axis < 0 || dims(value)[static_cast<size_t>(place.axis)] == 1) return true;
    const Tensor* tensor = special_.graph.constant(value);
    const int64_t dim = dims(value)[static_cast<size_t>(place.axis)];
    if (tensor == nullptr || dim == 0 || dim % (place.before * samples_) != 0 || tensor->elements() == 0)
      return false;
    auto outer = static_cast<size_t>(place.before);
    for (int64_t d = 0; d < place.axis; ++d)
      outer *= static_cast<size_t>(dims(value)[static_cast<size_t>(d)]);
    const size_t piece = tensor->byte_count() / outer / static_cast<size_t>(samples_);
    for (size_t o = 0; o < outer; ++o) {
      const std::byte* first = tensor->bytes() + o * piece * static_cast<size_t>(samples_);
      for (int64_t s = 1; s < samples_; ++s) {
        if (std::memcmp(first, first + static_cast<size_t>(s) * piece, piece) != 0) return false;
      }
    }
    return true;
  }
  std::optional<std::vector<int64_t>> list(const Node& node, size_t input) const {
    const Tensor* tensor = input < node.inputs.size() && node.inputs[input] != kNone
                               ? special_.graph.constant(node.inputs[input])
                               : nullptr;
    if (tensor == nullptr || tensor->type() != Type::kInt) return std::nullopt;
    return std::vector<int64_t>(tensor->values<int64_t>().begin(), tensor->values<int64_t>().end());
  }

  Axis follow(const Node& node) const {
    if (same(node, 0)) return kAlike;
    const int32_t x = node.inputs[0];
    const Along at = along(x);
    if (kNumberOperators.contains(node.op)) return same(node, 1) ? Axis(at) : std::nullopt;
    if (kPairOperators.contains(node.op)) return follow_pair(node);
    if (kImageOperators.contains(node.op)) return at == Along{} && same(node, 1) ? Axis(at) : std::nullopt;
    if (kShapeOperators.contains(node.op)) return same(node, 1) ? follow_shape(node) : std::nullopt;
    if (node.op == "MatMul" || node.op == "Gemm") return follow_product(node);
    if (node.op == "Concat") return follow_concat(node);
    if (node.op == "Gather") return follow_gather(node);
    if (!same(node, 1) || at == kAlike) return std::nullopt;
    if (node.op == "Transpose") return follow_transpose(node);
    if (node.op == "Expand") return Along{at.axis + rank(node.outputs[0]) - rank(x), at.before};
    if (node.op == "Softmax" || node.op == "LogSoftmax" || node.op == "LayerNormalization") {
      int64_t over = node.integer("axis", node.op != "LayerNormalization" && node.opset < 13 ? 1 : -1);
      if (over < 0) over += rank(x);
      return at.axis < over ? Axis(at) : std::nullopt;
    }
    if (node.op == "Split") return other_axis(node.integer("axis", 0), x) ? Axis(at) : std::nullopt;
    if (node.op == "Slice") return follow_slice(node);
    if (node.op == "Pad") return follow_pad(node);
    if (node.op.starts_with("Reduce")) return follow_reduce(node);
    return std::nullopt;
  }

  bool other_axis(int64_t number, int32_t x) const {
    return (number < 0 ? number + rank(x) : number) != axis(x);
  }

  Axis follow_pair(const Node& node) const {
    const int64_t out = rank(node.outputs[0]);
    Axis found;
    for (const int32_t value : node.inputs) {
      if (alike(value)) continue;
      const Along here{axis(value) + out - rank(value), along(value).before};
      if (found && *found != here) return std::nullopt;
      found = here;
    }
    for (const int32_t value : node.inputs) {
      if (value == kNone) return std::nullopt;
      const Along here{found->axis - (out - rank(value)), found->before};
      if (alike(value) ? !repeats(value, here)
                       : dims(value)[static_cast<size_t>(here.axis)] !=
                             dims(node.outputs[0])[static_cast<size_t>(found->axis)]) {
        return std::nullopt;
      }
    }
    return found;
  }

  /// Numbers keep their places in memory: so does the sample among the indices of all dimensions taken
  /// together.
  Axis follow_shape(const Node& node) const {
    const int32_t x = node.inputs[0];
    int64_t before = along(x).before;
    for (int64_t d = 0; d < axis(x); ++d) before *= dims(x)[static_cast<size_t>(d)];
    int64_t here = 1;
    for (int64_t d = 0; d < rank(node.outputs[0]); ++d) {
      const int64_t dim = dims(node.outputs[0])[static_cast<size_t>(d)];
      if (dim == 0 || here > before || before % here != 0) return std::nullopt;
      const int64_t inside = before / here;
      if (dim > inside) return dim % (inside * samples_) == 0 ? Axis(Along{d, inside}) : std::nullopt;
      here *= dim;
    }
    return std::nullopt;
  }

  Axis follow_product(const Node& node) const {
    const int32_t a = node.inputs[0];
    const int32_t b = node.inputs[1];
    if (node.op == "Gemm") {
      const bool biased = node.inputs.size() > 2 && node.inputs[2] != kNone;
      const bool fits = axis(a) == 0 && alike(b) && node.integer("transA", 0) == 0 && same(node, 2) &&
                        (!biased || rank(node.inputs[2]) < 2 || repeats(node.inputs[2], along(a)));
      return fits ? Axis(along(a)) : std::nullopt;
    }
    if (alike(a)) return std::nullopt;
    if (alike(b)) return axis(a) < rank(a) - 1 && rank(b) == 2 ? Axis(along(a)) : std::nullopt;
    const bool fits = along(a) == along(b) && rank(a) == rank(b) && axis(a) < rank(a) - 2 &&
                      dims(a)[static_cast<size_t>(axis(a))] == dims(b)[static_cast<size_t>(axis(b))];
    return fits ? Axis(along(a)) : std::nullopt;
  }

  Axis follow_concat(const Node& node) const {
    Axis found;
    for (const int32_t value : node.inputs) {
      if (alike(value)) continue;
      if (found && *found != along(value)) return std::nullopt;
      found = along(value);
    }
    int64_t joined = node.integer("axis", 0);
    if (joined < 0) joined += rank(node.outputs[0]);
    if (joined == found->axis) return std::nullopt;
    for (const int32_t value : node.inputs) {
      const auto at = static_cast<size_t>(found->axis);
      if (dims(value)[at] != dims(node.outputs[0])[at] || (alike(value) && !repeats(value, *found)))
        return std::nullopt;
    }
    return found;
  }

  Axis follow_gather(const Node& node) const {
    const int32_t data = node.inputs[0];
    const int32_t index = node.inputs[1];
    int64_t over = node.integer("axis", 0);
    if (over < 0) over += rank(data);
    if (alike(data)) return Along{over + axis(index), along(index).before};
    if (!alike(index) || axis(data) == over) return std::nullopt;
    return Along{axis(data) < over ? axis(data) : axis(data) + rank(index) - 1, along(data).before};
  }

  Axis follow_transpose(const Node& node) const {
    const int32_t x = node.inputs[0];
    const std::vector<int64_t> order = node.integers("perm");
    if (order.empty()) return Along{rank(x) - 1 - axis(x), along(x).before};
    const auto found = std::find(order.begin(), order.end(), axis(x));
    return found == order.end() ? std::nullopt : Axis(Along{found - order.begin(), along(x).before});
  }

  Axis follow_slice(const Node& node) const {
    const auto axes = list(node, 3);
    if (!axes) return std::nullopt;
    for (const int64_t one : *axes) {
      if (!other_axis(one, node.inputs[0])) return std::nullopt;
    }
    return along(node.inputs[0]);
  }

  Axis follow_pad(const Node& node) const {
    const int32_t x = node.inputs[0];
    const auto given = list(node, 1);
    const std::vector<int64_t> pads = given ? *given : node.integers("pads");
    const auto at = static_cast<size_t>(axis(x));
    const auto ranks = static_cast<size_t>(rank(x));
    const bool apart = pads.size() == 2 * ranks && pads[at] == 0 && pads[at + ranks] == 0;
    return apart && (node.inputs.size() < 4 || node.inputs[3] == kNone) ? Axis(along(x)) : std::nullopt;
  }

  Axis follow_reduce(const Node& node) const {
    const int32_t x = node.inputs[0];
    const auto given = list(node, 1);
    if (node.inputs.size() > 1 && node.inputs[1] != kNone && !given) return std::nullopt;
    const std::vector<int64_t> axes = given ? *given : node.integers("axes");
    if (axes.empty()) return std::nullopt;
    int64_t gone = 0;
    for (const int64_t one : axes) {
      if (!other_axis(one, x)) return std::nullopt;
      gone += (one < 0 ? one + rank(x) : one) < axis(x) ? 1 : 0;
    }
    return Along{axis(x) - (node.integer("keepdims", 1) != 0 ? 0 : gone), along(x).before};
  }

  const Special& special_;
  int64_t samples_;
  std::vector<Along> along_;
};

}  // namespace

bool samples_are_apart(const Special& special, int64_t samples) {
  const auto fits = [&](const Port& port) {
    const Dims& dims = special.specs[static_cast<size_t>(port.value)].dims;
    return !dims.empty() && dims[0] == samples && port.spec.dims[0] < 0;
  };
  const auto& inputs = special.graph.inputs;
  return samples > 1 && !inputs.empty() && special.looked_at.empty() &&
         std::all_of(inputs.begin(), inputs.end(), fits) && Samples(special, samples).apart();
}

}  // namespace hewn::flow
