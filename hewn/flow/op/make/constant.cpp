#include <algorithm>
#include <cstring>

#include "hewn/flow/op/operator.h"

namespace hewn::flow {
namespace {

/// One dimension, or one number where the attribute is one.
template <class T>
Tensor tensor_of_attribute(const std::vector<T>& numbers, Dims dims) {
  Tensor out(Spec{kTypeOf<T>, std::move(dims)});
  std::copy(numbers.begin(), numbers.end(), out.values<T>().begin());
  return out;
}

Tensor constant_of(const Call& call) {
  const Node& node = *call.node;
  if (const Tensor* value = node.tensor("value")) return *value;
  if (node.has("value_int")) return tensor_of_attribute<int64_t>({node.integer("value_int", 0)}, {});
  if (node.has("value_float")) return tensor_of_attribute<float>({node.number("value_float", 0)}, {});
  if (node.has("value_ints")) {
    const std::vector<int64_t> numbers = node.integers("value_ints");
    return tensor_of_attribute(numbers, {static_cast<int64_t>(numbers.size())});
  }
  const auto found = node.attributes.find("value_floats");
  const auto* floats =
      found == node.attributes.end() ? nullptr : std::get_if<std::vector<float>>(&found->second);
  if (floats == nullptr) throw call.bad("has no value that is supported");
  return tensor_of_attribute(*floats, {static_cast<int64_t>(floats->size())});
}

std::vector<Spec> infer_constant(const Call& call) { return {constant_of(call).spec()}; }

void run_constant(const Call& call) {
  const Tensor value = constant_of(call);
  if (value.byte_count() > 0) std::memcpy(call.out[0].data, value.bytes(), value.byte_count());
}

/// What a tensor is filled with: a float 0 unless said otherwise.
Tensor filling(const Call& call) {
  const Tensor* value = call.node->tensor("value");
  if (value != nullptr && value->elements() != 1) throw call.bad("value is not one number");
  return value == nullptr ? tensor_of(0.0F) : *value;
}

std::vector<Spec> infer_constant_of_shape(const Call& call) { return {{filling(call).type(), call.list(0)}}; }

void run_constant_of_shape(const Call& call) {
  const Tensor value = filling(call);
  with_type(value.type(), [&](auto element) {
    using T = decltype(element);
    std::ranges::fill(call.result<T>(0), value.values<T>()[0]);
  });
}

}  // namespace

constinit const Operator op::kConstant = {
    .name = "Constant", .least_inputs = 0, .most_inputs = 0, .infer = infer_constant, .run = run_constant};
constinit const Operator op::kConstantOfShape = {
    .name = "ConstantOfShape", .infer = infer_constant_of_shape, .run = run_constant_of_shape};

}  // namespace hewn::flow
