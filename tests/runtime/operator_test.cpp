// What every line of ops.def promises.
#include "hewn/runtime/op/operator.h"

#include <gtest/gtest.h>

#include <set>

#include "hewn/core/error.h"
#include "hewn/runtime/model.h"
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
  }
}

// The tests of files and of models run over these graphs.
TEST(Operator, IsInASampleGraphWhereItRuns) {
  std::set<std::string_view> used;
  for (const NamedGraph& sample : sample_graphs()) {
    for (const Node& node : sample.graph.nodes) used.insert(name_of(node.op));
  }
  for (const Operator* op : operators())
    EXPECT_TRUE(op->tensors == Tensors::kFolded || used.contains(op->name)) << op->name;
}

TEST(Operator, ThatExportFoldsIsRefused) {
  Graph graph;
  graph.batch_norm("b", graph.input({3, 4, 4}), 1e-5);
  ModelData model;
  model.graph = graph;
  EXPECT_THROW(Model(std::move(model), {}), Error);
}

}  // namespace
}  // namespace hewn::runtime
