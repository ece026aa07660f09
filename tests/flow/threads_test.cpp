// Copies of one network, each on a thread of its own, with teams of threads beneath them.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "hewn/flow/bf16/halve.h"
#include "hewn/flow/composer.h"
#include "hewn/flow/evaluate.h"
#include "hewn/flow/int8/quantise.h"
#include "hewn/flow/network.h"

namespace hewn::flow {
namespace {

Tensor waves(Dims dims, int step) {
  Tensor out(Spec{Type::kFloat, std::move(dims)});
  int next = step;
  for (float& x : out.values<float>()) x = static_cast<float>((next += step) % 31 - 15) / 16;
  return out;
}

/// Two convolutions, the second with blocks of zeros, and a product behind them.
Graph small_network() {
  Graph graph;
  const auto constant = [&](Tensor tensor) {
    const int32_t value = graph.add_value("c" + std::to_string(graph.values.size()));
    graph.constants[value] = std::move(tensor);
    return value;
  };
  const auto add = [&](const char* op, std::vector<int32_t> inputs,
                       std::map<std::string, Attribute> attributes = {}) {
    Node node;
    node.op = op;
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    node.outputs = {graph.add_value(op + std::to_string(graph.values.size()))};
    graph.nodes.push_back(node);
    return node.outputs[0];
  };
  const std::map<std::string, Attribute> padded = {{"pads", std::vector<int64_t>{1, 1, 1, 1}}};
  const int32_t x = graph.add_value("x");
  graph.inputs = {{x, {Type::kFloat, {-1, 8, 16, 16}}}};
  Tensor sparse = waves({32, 32, 3, 3}, 7);
  const auto weights = sparse.values<float>();
  for (size_t i = 0; i < weights.size(); ++i) {
    if (i / (32 * 9) / 16 != i / 9 % 32 / 16) weights[i] = 0;
  }
  int32_t y = add("Relu", {add("Conv", {x, constant(waves({32, 8, 3, 3}, 5))}, padded)});
  y = add("Sigmoid", {add("Conv", {y, constant(std::move(sparse))}, padded)});
  y = add("Flatten", {add("GlobalAveragePool", {y})});
  y = add("MatMul", {y, constant(waves({32, 10}, 3))});
  graph.outputs = {{y, {Type::kFloat, {-1, 10}}}};
  return graph;
}

TEST(NetworkThreads, CopiesRunAtOnceOnBatchesOfTheirOwn) {
  const Graph graph = small_network();
  const Network network(graph);  // nothing is made ready yet: the copies do that at once
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> got(4);
  const auto input_of = [](size_t i) {
    return waves({static_cast<int64_t>(i % 2) + 2, 8, 16, 16}, static_cast<int>(i) + 2);
  };
  for (size_t i = 0; i < got.size(); ++i) {
    threads.emplace_back([&, i] {
      Network own(network);
      own.set_threads(static_cast<int>(i % 3) + 1);
      std::vector<Tensor> out;
      for (int again = 0; again < 3; ++again) out = own.run({input_of(i)});
      got[i].assign(out[0].values<float>().begin(), out[0].values<float>().end());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < got.size(); ++i) {
    Network alone(graph);
    const std::vector<Tensor> expected = alone.run({input_of(i)});
    EXPECT_TRUE(std::equal(got[i].begin(), got[i].end(), expected[0].values<float>().begin(),
                           expected[0].values<float>().end()))
        << i;
  }
}

/// Three products of 512 by 512, a third of whose blocks are kept: enough for several threads to share.
Graph wide_network() {
  Composer to;
  int32_t x = to.input("x", {Type::kFloat, {-1, 512}});
  for (int i = 0; i < 3; ++i) {
    const std::string name = "w" + std::to_string(i);
    Tensor weight = waves({512, 512}, 5 + 2 * i);
    auto values = weight.values<float>();
    for (size_t at = 0; at < values.size(); ++at) {
      values[at] = (at / 512 / 16 + at % 512 / 16) % 3 == 0 ? values[at] / 8 : 0;
    }
    x = to.node("Gemm", name, {x, to.constant(name, std::move(weight))}, {{"transB", int64_t{1}}});
    x = to.node("Relu", "relu" + name, {x});
  }
  return to.finish(x, "y", {Type::kFloat, {-1, 512}});
}

TEST(NetworkThreads, ShareProductsInFewerBits) {
  Graph bytes = wide_network();
  quantise(bytes, {{waves({4, 512}, 3)}}, {});
  Graph halves = wide_network();
  to_bf16(halves, {});
  for (const Graph& graph : {bytes, halves}) {
    for (const int64_t batch : {1, 70, 600}) {
      const Tensor input = waves({batch, 512}, 11);
      Network network(graph);
      const Tensor expected = network.run({input})[0];
      for (const int threads : {2, 3, 7}) {
        network.set_threads(threads);
        const Tensor got = network.run({input})[0];
        EXPECT_EQ(std::memcmp(got.bytes(), expected.bytes(), got.byte_count()), 0) << batch << " " << threads;
      }
    }
  }
}

}  // namespace
}  // namespace hewn::flow
