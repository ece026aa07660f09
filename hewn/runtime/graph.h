#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/kernels/packed.h"

namespace hewn::runtime {

/// One for every line of ops.def; op/ has a file for each, which says what it does.
enum class Op {
#define HEWN_OP(op, function) op,
#include "hewn/runtime/op/ops.def"
#undef HEWN_OP
};

/// What a node hands on: an image, or a vector as an image of one pixel.
struct Shape {
  int64_t channels = 0;
  int64_t height = 1;
  int64_t width = 1;

  int64_t elements() const { return channels * height * width; }
  bool operator==(const Shape&) const = default;
};
std::string to_string(const Shape& shape);

/// One operation. Fields that its op does not use keep their defaults.
struct Node {
  Op op = Op::kInput;
  std::vector<int32_t> inputs;        // earlier nodes
  std::string name;                   // linear, conv2d, batch_norm, embedding: of its tensors
  Shape shape;                        // input
  int64_t outputs = 0;                // linear: features, conv2d: channels
  kernels::ConvGeometry window;       // conv2d, max_pool; subsample: its stride
  std::array<int64_t, 2> pad{};       // subsample: channels of zeros before and behind
  double epsilon = 0;                 // batch_norm
  int64_t width = 0;                  // embedding: numbers per field
  std::vector<int64_t> vocabularies;  // embedding: how many values each field takes

  bool operator==(const Node&) const = default;
};

/// A network as plain data: nodes in an order in which they can run. The first is the input, the last the
/// output.
struct Graph {
  std::vector<Node> nodes;

  /// Adds a node of any op, whose attributes nodes.back() then has, and returns its number.
  int32_t append(Op op, std::vector<int32_t> inputs);
  /// Each adds a node of its op likewise.
  int32_t input(const Shape& shape);
  int32_t linear(const std::string& name, int32_t in, int64_t outputs);
  int32_t conv2d(const std::string& name, int32_t in, int64_t outputs, const kernels::ConvGeometry& window);
  int32_t batch_norm(const std::string& name, int32_t in, double epsilon);
  int32_t relu(int32_t in);
  int32_t add(int32_t a, int32_t b);
  int32_t max_pool(int32_t in, const kernels::ConvGeometry& window);
  int32_t global_avg_pool(int32_t in);
  int32_t flatten(int32_t in);
  int32_t subsample(int32_t in, int64_t stride, const std::array<int64_t, 2>& pad);
  int32_t embedding(const std::string& name, int32_t in, std::vector<int64_t> vocabularies, int64_t width);

  bool operator==(const Graph&) const = default;
};

/// An op's name in files, and the op of a name.
std::string_view name_of(Op op);
std::optional<Op> op_named(std::string_view name);
/// How many values it reads.
size_t count_inputs(Op op);
/// Whether the node has a weight; an embedding has a table instead.
bool has_weight(const Node& node);
bool has_table(const Node& node);
/// Whether inputs are numbers of values, which embeddings look up.
bool takes_values(const Graph& graph);
/// How many values each field may take, so that every embedding has them; empty where there is none.
std::vector<int64_t> vocabularies_of(const Graph& graph);

/// How often each node is used as an input.
std::vector<int32_t> count_uses(const Graph& graph);

}  // namespace hewn::runtime
