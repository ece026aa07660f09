#pragma once

#include <map>
#include <string>
#include <vector>

#include "hewn/flow/graph.h"

namespace hewn::flow {

/// Writes a graph by hand, node by node, by the rules of opset 17 (Gelu: 20). Each function adds a value and
/// returns it; names are for people.
class Composer {
 public:
  using Attributes = std::map<std::string, Attribute>;

  int32_t input(const std::string& name, Spec spec);
  int32_t constant(const std::string& name, Tensor tensor);
  /// Constants that equal ones share: one number, one index, a list such as a shape.
  int32_t number(float value);
  int32_t index(int64_t value);
  int32_t list(const std::vector<int64_t>& values);

  int32_t node(const std::string& op, const std::string& name, std::vector<int32_t> inputs,
               Attributes attributes = {});
  /// A node of several outputs.
  std::vector<int32_t> split(const std::string& name, int32_t in, int64_t axis,
                             const std::vector<int64_t>& sizes);

  /// The graph, with the one output, which is called `name`.
  Graph finish(int32_t output, const std::string& name, Spec spec);

 private:
  int32_t shared(const std::string& name, const Tensor& tensor);

  Graph graph_;
  std::map<std::string, int32_t> shared_;
};

}  // namespace hewn::flow
