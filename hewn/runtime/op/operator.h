#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hewn/core/json.h"
#include "hewn/runtime/graph.h"

namespace hewn::runtime {

class ObjectReader;

/// The tensors that a node's name stands for.
enum class Tensors {
  kNone,    // such a node has no name
  kWeight,  // kept blocks and a bias
  kTable,   // rows, which the values of the input number
  kFolded,  // what export folds into the layer before
};

/// That of the first input.
Shape same_shape(const Node& node, std::span<const Shape> in);
/// The numbers of the first input and those of the result.
int64_t read_and_write(const Node& node, std::span<const Shape> in, const Shape& out);

/// All that files and shapes know of an op; what computes it is in flow_graph.cpp. Defaults are those of a
/// function of one input, number by number.
struct Operator {
  std::string_view name;  // in files
  size_t inputs = 1;      // two at most
  Tensors tensors = Tensors::kNone;

  /// Of the result; throws Error where the inputs do not fit.
  Shape (*shape)(const Node& node, std::span<const Shape> in) = same_shape;
  /// Multiply-adds of one sample, or as long.
  int64_t (*cost)(const Node& node, std::span<const Shape> in, const Shape& out) = read_and_write;
  /// Attributes in files, without the name and, of a weight, the number of outputs. Null: there are none.
  void (*read)(const ObjectReader& reader, Node& node) = nullptr;
  void (*write)(const Node& node, Json& json) = nullptr;
};

/// All of them, in the order of Op.
const std::vector<const Operator*>& operators();
const Operator& operator_of(Op op);

}  // namespace hewn::runtime
