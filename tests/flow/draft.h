#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "hewn/flow/evaluate.h"
#include "hewn/flow/network.h"

namespace hewn::flow {

inline Tensor noise(Dims dims, uint32_t seed, float share_of_zeros = 0) {
  Tensor out(Spec{Type::kFloat, std::move(dims)});
  uint32_t state = seed * 2654435761U + 12345U;
  const auto next = [&] {
    state = state * 1664525U + 1013904223U;
    return static_cast<float>(state >> 8) / static_cast<float>(1U << 24);
  };
  for (float& x : out.values<float>()) {
    const float value = 2 * next() - 1;
    x = next() < share_of_zeros ? 0 : value;
  }
  return out;
}

/// A graph under construction, with one float input.
struct Draft {
  Graph graph;

  explicit Draft(Dims dims) {
    const int32_t x = graph.add_value("x");
    dims[0] = -1;
    graph.inputs = {{x, {Type::kFloat, std::move(dims)}}};
  }
  int32_t constant(Tensor tensor) {
    const int32_t value = graph.add_value("c" + std::to_string(graph.values.size()));
    graph.constants[value] = std::move(tensor);
    return value;
  }
  int32_t add(const std::string& op, std::vector<int32_t> inputs,
              std::map<std::string, Attribute> attributes = {}) {
    Node node;
    node.op = op;
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    node.outputs = {graph.add_value(op + std::to_string(graph.values.size()))};
    graph.nodes.push_back(node);
    return node.outputs[0];
  }
  int32_t conv(int32_t x, int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t pad,
               int64_t groups = 1, float zeros = 0, int64_t dilation = 1) {
    const auto seed = static_cast<uint32_t>(graph.values.size());
    return add("Conv",
               {x, constant(noise({out, in / groups, kernel, kernel}, seed, zeros)),
                constant(noise({out}, seed + 1))},
               {{"strides", std::vector<int64_t>{stride, stride}},
                {"pads", std::vector<int64_t>{pad, pad, pad, pad}},
                {"dilations", std::vector<int64_t>{dilation, dilation}},
                {"group", groups}});
  }
  void output(int32_t value, Dims dims) {
    dims[0] = -1;
    graph.outputs.push_back({value, {Type::kFloat, std::move(dims)}});
  }
};

inline void expect_same(const Graph& graph, const Tensor& input) {
  const std::vector<Tensor> expected = evaluate(graph, {input});
  Network network(graph);
  for (const int threads : {1, 3}) {
    network.set_threads(threads);
    const std::vector<Tensor> got = network.run({input});
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].spec(), expected[i].spec());
      float size = 1e-3F;
      for (const float x : expected[i].values<float>()) size = std::max(size, std::abs(x));
      for (size_t k = 0; k < static_cast<size_t>(got[i].elements()); ++k) {
        ASSERT_NEAR(got[i].values<float>()[k], expected[i].values<float>()[k], 1e-4F * size)
            << "output " << i << ", " << k;
      }
    }
  }
}

}  // namespace hewn::flow
