// What every line of ops.def promises.
#include "hewn/runtime/op/operator.h"

#include <gtest/gtest.h>

#include <set>

#include "hewn/core/error.h"
#include "hewn/runtime/program.h"
#include "tests/runtime/models.h"

namespace hewn::runtime {
namespace {

TEST(Operator, IsFoundByItsName) {
  for (size_t i = 0; i < operators().size(); ++i) {
    const auto op = static_cast<Op>(i);
    EXPECT_EQ(op_named(name_of(op)), op) << name_of(op);
    EXPECT_EQ(&operator_of(op), operators()[i]);
  }
  EXPECT_FALSE(op_named("no op"));
  EXPECT_THROW(operator_of(static_cast<Op>(operators().size())), Error);
}

TEST(Operator, SaysNothingThatContradictsItself) {
  for (const Operator* op : operators()) {
    SCOPED_TRACE(op->name);
    EXPECT_LE(op->inputs, 2U);
    EXPECT_EQ(op->read == nullptr, op->write == nullptr);
    EXPECT_EQ(op->pack != nullptr, op->tensors == Tensors::kWeight);
    EXPECT_FALSE(op->takes_add && op->inputs != 1);
    EXPECT_FALSE(op->writes_over_addend && !op->takes_add);
    EXPECT_FALSE(op->pointwise && op->reads_border);
  }
}

// The tests of files and of the executor run over these graphs.
TEST(Operator, IsInASampleGraphWhereItRuns) {
  std::set<std::string_view> used;
  for (const NamedGraph& sample : sample_graphs()) {
    for (const Node& node : sample.graph.nodes) used.insert(name_of(node.op));
  }
  for (const Operator* op : operators())
    EXPECT_TRUE(op->run == nullptr || used.contains(op->name)) << op->name;
}

TEST(Operator, WithoutARunIsRefused) {
  Graph graph;
  graph.batch_norm("b", graph.input({3, 4, 4}), 1e-5);
  ModelData model;
  model.graph = graph;
  EXPECT_THROW(make_program(std::move(model), {}), Error);
}

}  // namespace
}  // namespace hewn::runtime
