#pragma once

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hewn/flow/evaluate.h"

namespace hewn::flow {

template <class T>
Tensor tensor(const Dims& dims, std::initializer_list<T> values) {
  Tensor out(Spec{kTypeOf<T>, dims});
  std::copy(values.begin(), values.end(), out.values<T>().begin());
  return out;
}

inline Tensor ints(std::initializer_list<int64_t> values) {
  return tensor<int64_t>({static_cast<int64_t>(values.size())}, values);
}

inline Tensor floats(std::initializer_list<float> values) {
  return tensor<float>({static_cast<int64_t>(values.size())}, values);
}

/// Zeros.
inline Tensor zeros(Dims dims) { return Tensor(Spec{Type::kFloat, std::move(dims)}); }

/// One node by itself. An empty optional tensor is an input that is not there.
struct Single {
  std::string op;
  std::map<std::string, Attribute> attributes;
  std::vector<std::optional<Tensor>> inputs;
  int64_t opset = 17;
  size_t outputs = 1;

  std::vector<Tensor> run() const {
    Node node;
    node.op = op;
    node.attributes = attributes;
    node.opset = opset;
    std::vector<const Tensor*> in;
    for (const auto& input : inputs) {
      node.inputs.push_back(static_cast<int32_t>(in.size()));
      in.push_back(input ? &*input : nullptr);
    }
    for (size_t i = 0; i < outputs; ++i) node.outputs.push_back(static_cast<int32_t>(in.size() + i));
    return evaluate(node, in);
  }
};

template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  const auto values = tensor.values<T>();
  return {values.begin(), values.end()};
}

}  // namespace hewn::flow
