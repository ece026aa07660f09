#include "hewn/flow/lower/functions.h"

#include <limits>

namespace hewn::flow {
namespace {

using kernels::Activation;
using kernels::Function;

std::optional<float> scalar(const Builder& builder, const Node& node, size_t input, float otherwise) {
  if (node.inputs.size() <= input || node.inputs[input] == kNone) return otherwise;
  const Tensor* tensor = builder.constant(node.inputs[input]);
  if (tensor == nullptr || tensor->elements() != 1 || tensor->type() != Type::kFloat) return std::nullopt;
  return tensor->values<float>()[0];
}

}  // namespace

std::optional<Activation> function_of(const Builder& builder, const Node& node) {
  static const std::map<std::string, Function> kPlain = {{"Relu", Function::kRelu},
                                                         {"Sigmoid", Function::kSigmoid},
                                                         {"Tanh", Function::kTanh},
                                                         {"Exp", Function::kExp},
                                                         {"Erf", Function::kErf},
                                                         {"Sqrt", Function::kSqrt},
                                                         {"HardSwish", Function::kHardSwish}};
  if (node.inputs.empty() || builder.spec(node.inputs[0]).type != Type::kFloat) return std::nullopt;
  const auto found = kPlain.find(node.op);
  if (found != kPlain.end()) return Activation{true, found->second};
  if (node.op == "HardSigmoid")
    return Activation{true, Function::kHardSigmoid, node.number("alpha", 0.2F), node.number("beta", 0.5F)};
  if (node.op == "LeakyRelu") return Activation{true, Function::kLeakyRelu, node.number("alpha", 0.01F)};
  if (node.op == "Gelu") {
    return Activation{true,
                      node.text("approximate", "none") == "tanh" ? Function::kGeluTanh : Function::kGelu};
  }
  if (node.op != "Clip") return std::nullopt;
  constexpr float kFar = std::numeric_limits<float>::infinity();
  const auto low = scalar(builder, node, 1, -kFar);
  const auto high = scalar(builder, node, 2, kFar);
  if (!low || !high || *low > *high) return std::nullopt;
  return Activation{true, Function::kClip, *low, *high};
}

int32_t silu_end(const Builder& builder, int32_t x) {
  const int32_t end = builder.last_reader(x);
  if (end == kNone || builder.spec(x).type != Type::kFloat) return kNone;
  const Node& product = builder.graph().nodes[static_cast<size_t>(end)];
  if (product.op != "Mul" || product.inputs[0] == product.inputs[1]) return kNone;
  const int32_t other = product.inputs[0] == x ? product.inputs[1] : product.inputs[0];
  const int32_t maker = other == kNone ? kNone : builder.maker(other);
  if (maker == kNone || builder.uses(other) != 1) return kNone;
  const Node& sigmoid = builder.graph().nodes[static_cast<size_t>(maker)];
  return sigmoid.op == "Sigmoid" && sigmoid.inputs[0] == x ? end : kNone;
}

Activation silu() { return {true, Function::kSilu}; }

}  // namespace hewn::flow
