#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "hewn/flow/tensor.h"
#include "hewn/kernels/int8/words.h"

namespace hewn::flow {

using Attribute = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>, Tensor>;

/// No value: an optional input that is not there, an output that nobody wants.
constexpr int32_t kNone = -1;

/// One operation, as ONNX describes it. docs/onnx.md lists those that can run.
struct Node {
  std::string op;
  std::vector<int32_t> inputs;  // values
  std::vector<int32_t> outputs;
  std::map<std::string, Attribute> attributes;
  int64_t opset = 17;  // whose rules it follows
  std::string name;    // for people; may be empty

  bool has(const std::string& attribute) const { return attributes.count(attribute) > 0; }
  /// Throw Error where the attribute is of another kind.
  int64_t integer(const std::string& attribute, int64_t otherwise) const;
  float number(const std::string& attribute, float otherwise) const;
  std::string text(const std::string& attribute, const std::string& otherwise) const;
  std::vector<int64_t> integers(const std::string& attribute, std::vector<int64_t> otherwise = {}) const;
  /// The same without a copy; null where it is not there.
  const std::vector<int64_t>* list(const std::string& attribute) const;
  /// Null where it is not there.
  const Tensor* tensor(const std::string& attribute) const;
};
/// "Conv (layer1/conv)": what errors call it.
std::string to_string(const Node& node);

/// What a user feeds in or gets out. A dimension below 0 is not known before it runs.
struct Port {
  int32_t value = kNone;
  Spec spec;
};

/// A constant weight whose numbers are whole ones from -127 to 127 times the scale of their output.
struct WeightBytes {
  int64_t axis = 0;           // of the outputs
  std::vector<float> scales;  // one for each
};

/// A network of general tensors: nodes in an order in which they can run.
struct Graph {
  std::vector<std::string> values;  // their names
  std::vector<Node> nodes;
  std::map<int32_t, Tensor> constants;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  // How products may hold what they read: values in 8 bits, and weights. Products of both are computed so.
  std::map<int32_t, kernels::ByteScale> bytes;
  std::map<int32_t, WeightBytes> weight_bytes;
  // The same in bf16: values, and constants whose numbers are bf16.
  std::set<int32_t> halves;
  std::set<int32_t> weight_halves;

  int32_t add_value(std::string name);
  /// The constant of a value, or null.
  const Tensor* constant(int32_t value) const;
  const std::string& name(int32_t value) const { return values[static_cast<size_t>(value)]; }
};

/// How many nodes and outputs read each value.
std::vector<int32_t> count_uses(const Graph& graph);
/// The node that makes each value, or kNone.
std::vector<int32_t> makers(const Graph& graph);
/// Leaves out nodes and constants that no output needs.
void remove_unused(Graph& graph);

}  // namespace hewn::flow
