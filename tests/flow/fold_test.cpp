#include <gtest/gtest.h>

#include "tests/flow/call.h"

namespace hewn::flow {
namespace {

/// A convolution of two constants of `length` and half of it.
Graph convolution_of_constants(int64_t length) {
  Graph graph;
  const int32_t long_shape = graph.add_value("long");
  const int32_t short_shape = graph.add_value("short");
  graph.constants[long_shape] = ints({1, 1, length});
  graph.constants[short_shape] = ints({1, 1, length / 2});
  const auto add = [&](const std::string& op, std::vector<int32_t> inputs) {
    Node node;
    node.op = op;
    node.inputs = std::move(inputs);
    node.outputs = {graph.add_value(op)};
    graph.nodes.push_back(node);
    return node.outputs[0];
  };
  const int32_t image = add("ConstantOfShape", {long_shape});
  const int32_t weight = add("ConstantOfShape", {short_shape});
  graph.outputs = {{add("Conv", {image, weight}), {Type::kFloat, {1, 1, -1}}}};
  return graph;
}

TEST(Folding, DoesWhatIsQuick) {
  Graph graph = convolution_of_constants(16);
  fold_constants(graph);
  EXPECT_TRUE(graph.nodes.empty());
  EXPECT_EQ(graph.constant(graph.outputs[0].value)->dims(), (Dims{1, 1, 9}));
}

TEST(Folding, LeavesWhatWouldTakeHours) {
  Graph graph = convolution_of_constants(int64_t{1} << 22);
  fold_constants(graph);
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes[0].op, "Conv");
}

}  // namespace
}  // namespace hewn::flow
