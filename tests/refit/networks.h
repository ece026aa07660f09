#pragma once

#include <string>
#include <vector>

#include "hewn/core/random.h"
#include "hewn/flow/graph.h"

namespace hewn::refit {

/// Numbers in [-1, 1), a pure function of the seed.
inline flow::Tensor random_tensor(flow::Dims dims, uint64_t seed) {
  flow::Tensor out({flow::Type::kFloat, std::move(dims)});
  auto values = out.values<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(2 * unit(draw(seed, Stream::kPattern, 0, i)[0]) - 1);
  }
  return out;
}

/// Builds a chain of nodes.
class Chain {
 public:
  explicit Chain(flow::Dims input) {
    at_ = graph_.add_value("x");
    input[0] = -1;
    graph_.inputs.push_back({at_, {flow::Type::kFloat, std::move(input)}});
  }
  int32_t constant(const std::string& name, flow::Tensor tensor) {
    const int32_t value = graph_.add_value(name);
    graph_.constants[value] = std::move(tensor);
    return value;
  }
  Chain& node(const std::string& op, std::vector<int32_t> others = {},
              std::map<std::string, flow::Attribute> attributes = {}) {
    flow::Node node{
        .op = op, .inputs = {at_}, .outputs = {}, .attributes = std::move(attributes), .name = {}};
    node.inputs.insert(node.inputs.end(), others.begin(), others.end());
    node.name = op + std::to_string(graph_.nodes.size());
    at_ = graph_.add_value(node.name + ".out");
    node.outputs = {at_};
    graph_.nodes.push_back(std::move(node));
    return *this;
  }
  flow::Graph finish(size_t rank) {
    graph_.outputs.push_back({at_, {flow::Type::kFloat, flow::Dims(rank, -1)}});
    return graph_;
  }

 private:
  flow::Graph graph_;
  int32_t at_ = 0;
};

/// Conv, batch normalisation, ReLU, Conv with bias, ReLU, pooling, Gemm; weights by seed.
inline flow::Graph small_convnet(uint64_t seed) {
  Chain chain({-1, 4, 9, 9});
  const auto random = [&](const std::string& name, flow::Dims dims) {
    return chain.constant(name, random_tensor(std::move(dims), ++seed));
  };
  flow::Tensor spread({flow::Type::kFloat, {10}});
  for (float& value : spread.values<float>()) value = 0.7F;
  const int32_t w1 = random("w1", {10, 4, 3, 3});
  const int32_t scale = random("scale", {10});
  const int32_t shift = random("shift", {10});
  const int32_t mean = random("mean", {10});
  const int32_t variance = chain.constant("variance", spread);
  const int32_t w2 = random("w2", {12, 10, 3, 2});
  const int32_t b2 = random("b2", {12});
  const int32_t w3 = random("w3", {6, 12});
  const int32_t b3 = random("b3", {6});
  using Integers = std::vector<int64_t>;
  return chain.node("Conv", {w1}, {{"pads", Integers{1, 0, 1, 1}}})
      .node("BatchNormalization", {scale, shift, mean, variance})
      .node("Relu")
      .node("Conv", {w2, b2},
            {{"strides", Integers{2, 1}}, {"dilations", Integers{1, 2}}, {"pads", Integers{0, 1, 1, 0}}})
      .node("Relu")
      .node("GlobalAveragePool")
      .node("Flatten")
      .node("Gemm", {w3, b3}, {{"transB", int64_t{1}}, {"alpha", 0.5F}})
      .finish(2);
}

}  // namespace hewn::refit
