#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "hewn/core/error.h"
#include "hewn/flow/graph.h"
#include "hewn/flow/op/steps.h"

namespace hewn::flow {

/// A tensor in someone else's memory. Where `data` is null only the rest is known.
struct View {
  Spec spec;
  void* data = nullptr;
};

/// Thrown by Call::values where an operator needs numbers of an input to say what comes out, and they are not
/// known yet.
struct NotKnown {
  size_t input;
};

/// A node with its inputs: as a question (what comes out of it?) or as work to do, with outputs.
struct Call {
  const Node* node = nullptr;
  std::vector<const View*> in;  // null: not there
  std::vector<View> out;        // one for every output of the node; those that nobody wants have no data

  /// Whether an optional input is there.
  bool has(size_t input) const { return input < in.size() && in[input] != nullptr; }
  /// Throw Error where it is not there.
  const View& at(size_t input) const;
  const Spec& spec(size_t input) const { return at(input).spec; }
  const Dims& dims(size_t input) const { return at(input).spec.dims; }
  Type type(size_t input) const { return at(input).spec.type; }
  int64_t rank(size_t input) const { return static_cast<int64_t>(dims(input).size()); }

  /// An input's numbers. Throws NotKnown before they are, Error where they are of another type.
  template <class T>
  std::span<const T> values(size_t input) const {
    const View& view = at(input);
    expect(input, kTypeOf<T>);
    const auto elements = static_cast<size_t>(view.spec.elements());
    if (view.data == nullptr && elements > 0) throw NotKnown{input};
    return {static_cast<const T*>(view.data), elements};
  }
  /// A copy, for lists of dimensions and axes.
  std::vector<int64_t> list(size_t input) const {
    const auto numbers = values<int64_t>(input);
    return {numbers.begin(), numbers.end()};
  }
  template <class T>
  std::span<T> result(size_t output) const {
    const View& view = out.at(output);
    return {static_cast<T*>(view.data), static_cast<size_t>(view.spec.elements())};
  }
  bool wanted(size_t output) const { return output < out.size() && out[output].data != nullptr; }

  void expect(size_t input, Type type) const;
  /// Float or int64.
  void expect_number(size_t input) const;
  /// One number, of whatever shape.
  void expect_one(size_t input) const;
  /// An error of this node.
  Error bad(const std::string& problem) const { return Error(to_string(*node) + ": " + problem); }
};

/// What is known of an operator. Both functions see tensors row-major and throw Error, by Call::bad, where
/// the node cannot be: `infer` for what it is given, before anything is allocated.
struct Operator {
  std::string_view name;  // ONNX's
  size_t least_inputs = 1;
  size_t most_inputs = 1;
  /// What comes out: one for each output of the node.
  std::vector<Spec> (*infer)(const Call& call) = nullptr;
  void (*run)(const Call& call) = nullptr;
};

/// For operators that take any number of inputs.
constexpr size_t kAnyNumber = 1 << 20;

namespace op {
#define HEWN_FLOW_OP(name) extern const Operator k##name;
#include "hewn/flow/op/ops.def"
#undef HEWN_FLOW_OP
}  // namespace op

/// All of them: a line of ops.def each.
const std::vector<const Operator*>& operators();
/// Null where there is none of that name.
const Operator* find_operator(std::string_view name);

/// Calls body with a value of the type that the elements have: float, int64_t or bool.
template <class Body>
void with_type(Type type, const Body& body) {
  if (type == Type::kFloat) return body(float{});
  if (type == Type::kInt) return body(int64_t{});
  body(bool{});
}

/// `axis` counted from the front; throws where it is not one of `rank`.
int64_t from_front(const Call& call, int64_t axis, int64_t rank);
/// Those of a list; throws where one is there twice.
Steps from_front(const Call& call, Steps axes, int64_t rank);
/// An attribute until some opset, an input since: `name`, or input number `input`. None: nothing.
std::optional<std::vector<int64_t>> list_of(const Call& call, const std::string& name, size_t input);
/// What comes out of operators that keep the shape and type of their first input: anything, or floats only,
/// or floats and integers.
std::vector<Spec> same_as_first(const Call& call);
std::vector<Spec> same_floats(const Call& call);
std::vector<Spec> same_numbers(const Call& call);
/// How many elements there are from dimension `first` to before `last`.
int64_t count(const Dims& dims, int64_t first, int64_t last);
/// The shape that both can be stretched to; throws where there is none.
Dims broadcast(const Call& call, const Dims& a, const Dims& b);
/// Steps in elements from one index of each dimension of `to` to the next, for a tensor of `from` that is
/// stretched to it: 0 where it is stretched.
Steps strides_in(const Dims& from, const Dims& to);
/// Row-major steps.
Steps strides_of(const Dims& dims);

/// Calls body(offset...) for every index of `dims`, row-major, with the offset in each of the tensors that
/// `strides` belong to.
template <size_t kTensors, class Body>
void each_index(std::span<const int64_t> dims, const std::array<Steps, kTensors>& strides, const Body& body) {
  const int64_t total = count(dims);
  if (total == 0) return;
  Steps index(dims.size());
  std::array<int64_t, kTensors> offset{};
  for (int64_t i = 0; i < total; ++i) {
    body(i, offset);
    for (size_t d = dims.size(); d-- > 0;) {
      for (size_t t = 0; t < kTensors; ++t) offset[t] += strides[t][d];
      if (++index[d] < dims[d]) break;
      for (size_t t = 0; t < kTensors; ++t) offset[t] -= strides[t][d] * dims[d];
      index[d] = 0;
    }
  }
}

}  // namespace hewn::flow
