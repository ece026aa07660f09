// Graphs that no network of ours has: what simplify() names, names that occur twice, several opsets.
#include "hewn/onnx/export.h"

#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include <cmath>
#include <set>
#include <string>

#include "hewn/flow/composer.h"
#include "hewn/flow/evaluate.h"
#include "hewn/onnx/import.h"
#include "tests/support/message.h"

namespace hewn::onnx {
namespace {

using flow::Type;
using test::message_of;

flow::Tensor ramp(const flow::Dims& dims) {
  flow::Tensor out(flow::Spec{Type::kFloat, dims});
  float x = -2;
  for (float& value : out.values<float>()) value = x += 0.37F;
  return out;
}

/// The file's opset, once ONNX's checker has taken it and it computes what the graph computes.
int64_t expect_same_file(const flow::Graph& graph) {
  const std::string bytes = onnx_bytes(graph);
  ::onnx::ModelProto proto;
  EXPECT_TRUE(proto.ParseFromString(bytes));
  EXPECT_NO_THROW(::onnx::checker::check_model(proto));
  // The checker takes nodes of one name, ONNX Runtime does not.
  std::set<std::string> names;
  for (const auto& node : proto.graph().node())
    EXPECT_TRUE(node.name().empty() || names.insert(node.name()).second) << node.name();
  const flow::Tensor x = ramp({2, 6});
  const auto expected = flow::evaluate(graph, {x});
  const auto got = flow::evaluate(parse_onnx(bytes, "test", "."), {x});
  EXPECT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].spec(), expected[i].spec());
    for (int64_t k = 0; k < got[i].elements(); ++k) {
      EXPECT_NEAR(got[i].values<float>()[static_cast<size_t>(k)],
                  expected[i].values<float>()[static_cast<size_t>(k)], 1e-6F);
    }
  }
  return proto.opset_import(0).version();
}

/// Gelu, LayerNormalization and HardSwish one behind the other.
flow::Graph named_graph(int64_t opset) {
  flow::Composer to;
  int32_t x = to.input("x", {Type::kFloat, {-1, 6}});
  x = to.node("HardSwish", "swish", {to.node("Gelu", "gelu", {to.node("Neg", "", {x})})});
  x = to.node("LayerNormalization", "norm", {x, to.constant("a", ramp({6})), to.constant("a", ramp({6}))});
  flow::Graph graph = to.finish(x, "y", {Type::kFloat, {-1, 6}});
  graph.nodes[0].opset = opset;
  return graph;
}

TEST(OnnxFiles, NodesThatAnOpsetDoesNotKnowAreSpeltOut) {
  for (const int64_t opset : {12, 14, 17}) EXPECT_EQ(expect_same_file(named_graph(opset)), opset);
  flow::Graph wide = named_graph(14);
  wide.nodes.back().attributes["axis"] = int64_t{0};
  EXPECT_NE(message_of([&] { onnx_bytes(wide); }).find("LayerNormalization (norm): only over the last"),
            std::string::npos);
}

TEST(OnnxFiles, OutputsAreMadeOnceEach) {
  flow::Composer to;
  const int32_t x = to.input("x", {Type::kFloat, {-1, 6}});
  flow::Graph graph = to.finish(to.node("Relu", "y", {x}), "y", {Type::kFloat, {-1, 6}});
  const flow::Port y = graph.outputs[0];
  graph.outputs = {y, y, graph.inputs[0]};
  expect_same_file(graph);
}

TEST(OnnxFiles, OneOpsetForAllNodes) {
  flow::Composer to;
  const int32_t x = to.input("x", {Type::kFloat, {-1, 6}});
  flow::Graph graph =
      to.finish(to.node("Relu", "second", {to.node("Relu", "first", {x})}), "y", {Type::kFloat, {-1, 6}});
  graph.nodes[0].opset = 11;
  EXPECT_EQ(message_of([&] { onnx_bytes(graph); }),
            "nodes follow the rules of several opsets: Relu (first) those of 11, Relu (second) those of 17");
}

}  // namespace
}  // namespace hewn::onnx
