// Graphs in bf16: nearly the graph, the same bits on any number of threads, and files that hold it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/flow/bf16/halve.h"
#include "hewn/flow/composer.h"
#include "hewn/flow/evaluate.h"
#include "hewn/flow/model_file.h"
#include "hewn/flow/network.h"
#include "hewn/kernels/bf16/pairs.h"
#include "tests/support/allocations.h"
#include "tests/support/temp_folder.h"

namespace hewn::flow {
namespace {

using List = std::vector<int64_t>;

class Dice {
 public:
  explicit Dice(uint32_t seed) : state_(seed * 2654435761U + 12345U) {}
  float number() {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<float>(state_ >> 8) / static_cast<float>(1U << 23) - 1;
  }

 private:
  uint32_t state_;
};

/// As large as keeps activations what they are; blocks of `block` outputs by channels are zero but for a
/// third.
Tensor weight(const Dims& dims, uint32_t seed, int64_t block) {
  Tensor out(Spec{Type::kFloat, dims});
  Dice dice(seed);
  const int64_t outputs = dims[0];
  const int64_t each = std::max<int64_t>(out.elements() / outputs, 1);
  const int64_t taps = dims.size() == 4 ? dims[2] * dims[3] : 1;
  const auto size = static_cast<float>(2 / std::sqrt(static_cast<double>(each)));
  for (int64_t i = 0; i < out.elements(); ++i) {
    const float value = dice.number() * size;
    const bool kept = block == 0 || (i / each / block + i % each / taps / block) % 3 == 0;
    out.values<float>()[static_cast<size_t>(i)] = kept ? value : -0.0F;
  }
  return out;
}

Tensor numbers(const Dims& dims, uint32_t seed) {
  Tensor out(Spec{Type::kFloat, dims});
  Dice dice(seed);
  for (float& x : out.values<float>()) x = dice.number();
  return out;
}

/// A residual network with strides, pools, groups and odd numbers of channels.
Graph network_of(int64_t block) {
  Composer to;
  uint32_t seed = 1;
  const auto conv = [&](int32_t x, Dims dims, int64_t stride, int64_t groups = 1) {
    const std::string name = "conv" + std::to_string(++seed);
    const int64_t kernel = dims[2];
    const int64_t outputs = dims[0];
    return to.node("Conv", name,
                   {x, to.constant(name + ".w", weight(dims, seed, block)),
                    to.constant(name + ".b", numbers({outputs}, seed + 50))},
                   {{"strides", List{stride, stride}}, {"pads", List(4, kernel / 2)}, {"group", groups}});
  };
  int32_t x = to.input("x", {Type::kFloat, {-1, 3, 20, 20}});
  x = to.node("Relu", "r0", {conv(x, {33, 3, 3, 3}, 2)});
  x = to.node("MaxPool", "pool", {x},
              {{"kernel_shape", List{3, 3}}, {"strides", List{2, 2}}, {"pads", List(4, 1)}});
  x = to.node("Relu", "r1", {conv(x, {48, 33, 1, 1}, 1)});
  const int32_t inner = to.node("Relu", "r2", {conv(x, {48, 24, 3, 3}, 1, 2)});
  x = to.node("Relu", "r3", {to.node("Add", "a1", {conv(inner, {48, 48, 3, 3}, 1), x})});
  const int32_t down = to.node("Sigmoid", "r4", {conv(x, {64, 48, 3, 3}, 2)});
  x = to.node("Relu", "r5",
              {to.node("Add", "a2", {conv(down, {64, 64, 3, 3}, 1), conv(x, {64, 48, 1, 1}, 2)})});
  x = conv(x, {64, 1, 3, 3}, 1, 64);
  x = to.node("Flatten", "flat", {to.node("GlobalAveragePool", "mean", {x})}, {{"axis", int64_t{1}}});
  x = to.node("MatMul", "hidden", {x, to.constant("h.w", weight({64, 80}, 97, block))});
  x = to.node("Relu", "r6", {to.node("Add", "bias", {x, to.constant("h.b", numbers({80}, 96))})});
  x = to.node("Gemm", "fc",
              {x, to.constant("fc.w", weight({10, 80}, 99, 0)), to.constant("fc.b", numbers({10}, 98))},
              {{"transB", int64_t{1}}});
  return to.finish(x, "y", {Type::kFloat, {-1, 10}});
}

Tensor images(int64_t count, uint32_t seed) { return numbers({count, 3, 20, 20}, seed); }

double relative_error(const Tensor& got, const Tensor& expected) {
  double error = 0;
  double norm = 0;
  for (size_t i = 0; i < got.values<float>().size(); ++i) {
    error += std::pow(got.values<float>()[i] - expected.values<float>()[i], 2);
    norm += std::pow(expected.values<float>()[i], 2);
  }
  return std::sqrt(error / norm);
}

TEST(Bf16, NetworksAreNearlyTheNetwork) {
  for (const int64_t block : {0, 4, 8, 16, 32}) {
    for (const int64_t batch : {1, 3, 17}) {
      const Tensor input = images(batch, 77);
      const Tensor expected = evaluate(network_of(block), {input})[0];
      Graph graph = network_of(block);
      const auto layers = to_bf16(graph, {});
      ASSERT_EQ(layers.size(), 10U);
      for (const HalvedLayer& layer : layers)
        EXPECT_EQ(layer.halves, layer.why.empty()) << layer.name << layer.why;
      const Tensor got = Network(graph).run({input})[0];
      ASSERT_EQ(got.spec(), expected.spec());
      EXPECT_LT(relative_error(got, expected), 0.02) << block << " " << batch;
      EXPECT_GT(relative_error(got, expected), 0) << "it did not run in bf16";
    }
  }
}

TEST(Bf16, ThreadsNeverChangeABit) {
  Graph graph = network_of(16);
  to_bf16(graph, {});
  const Tensor input = images(33, 3);
  Network network(graph);
  const Tensor expected = network.run({input})[0];
  for (const int threads : {2, 3, 7}) {
    network.set_threads(threads);
    const Tensor got = network.run({input})[0];
    EXPECT_EQ(std::memcmp(got.bytes(), expected.bytes(), got.byte_count()), 0) << threads;
  }
}

TEST(Bf16, LayersCanBeKept) {
  Graph graph = network_of(0);
  const auto layers = to_bf16(graph, {"conv2", "fc"});
  EXPECT_FALSE(layers.front().halves);
  EXPECT_FALSE(layers.back().halves);
  EXPECT_EQ(layers.back().why, "asked for");
  EXPECT_TRUE(layers[1].halves);
  const Tensor input = images(2, 4);
  EXPECT_LT(relative_error(Network(graph).run({input})[0], evaluate(network_of(0), {input})[0]), 0.02);
  Graph other = network_of(0);
  EXPECT_THROW(to_bf16(other, {"nobody"}), Error);
}

TEST(Bf16, NothingIsAllocatedInSteadyState) {
  Graph graph = network_of(16);
  to_bf16(graph, {});
  for (const int64_t batch : {1, 4}) {
    Network network(graph);
    const std::vector<Tensor> input = {images(batch, 3)};
    std::vector<Tensor> output = network.run(input);
    const int64_t before = support::allocations();
    for (int i = 0; i < 5; ++i) network.run(input, output);
    EXPECT_EQ(support::allocations(), before);
  }
}

TEST(Bf16, FilesHoldItAndGiveTheSameBits) {
  const test::TempFolder folder;
  Graph graph = network_of(16);
  to_bf16(graph, {});
  write_flow_model(folder / "bf16.hewn", graph, {});
  write_flow_model(folder / "fp32.hewn", network_of(16), {});
  const Graph read = read_flow_model(folder / "bf16.hewn").graph;
  EXPECT_EQ(read.halves, graph.halves);
  EXPECT_EQ(read.weight_halves, graph.weight_halves);
  const Tensor input = images(3, 9);
  const Tensor expected = Network(graph).run({input})[0];
  const Tensor got = Network(read).run({input})[0];
  EXPECT_EQ(std::memcmp(got.bytes(), expected.bytes(), got.byte_count()), 0);
  EXPECT_LT(2 * std::filesystem::file_size(folder / "bf16.hewn"),
            1.3 * static_cast<double>(std::filesystem::file_size(folder / "fp32.hewn")));
}

TEST(Bf16, DamagedFilesAreRefused) {
  const test::TempFolder folder;
  Graph graph = network_of(16);
  to_bf16(graph, {});
  write_flow_model(folder / "bf16.hewn", graph, {});
  const std::string bytes = read_file(folder / "bf16.hewn");
  const auto parses = [](std::string text) {
    try {
      Network network(parse_flow_model(std::move(text), "file", false).graph);
      network.run({images(1, 1)});
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  ASSERT_TRUE(parses(bytes));
  // Each of the same length, so that all else of the file stays what it is. The graph is text within text.
  const std::vector<std::pair<std::string, std::string>> edits = {
      {".halves", ".halvez"},
      {".fours", ".fourz"},
      {".dims", ".dimz"},
      {"\"dtype\":\"BF16\"", "\"dtype\":\"F16\" "},
      {"[\\\"bf16\\\"]", "[\\\"bf17\\\"]"},
      {"\\\"weights\\\":[", "\\\"weights\\\":[9999999,"},
      {"{\\\"values\\\":[", "{\\\"values\\\":[-9,"}};
  for (const auto& [from, to] : edits) {
    std::string edited = bytes;
    const size_t at = edited.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    edited.replace(at, to.size(), to);
    EXPECT_FALSE(parses(edited)) << to;
  }
  // Any byte of the data: a number that is none, or another network.
  for (size_t at = bytes.size() - 3000; at < bytes.size(); at += 41) {
    for (const char byte : {'\x80', '\xff', '\x7f'}) {
      std::string edited = bytes;
      edited[at] = byte;
      parses(edited);
    }
  }
}

TEST(Bf16, WeightsBecomeTheNearest) {
  Graph graph = network_of(0);
  const auto before = graph.constants;
  to_bf16(graph, {});
  for (const int32_t value : graph.weight_halves) {
    for (const float x : graph.constants.at(value).values<float>()) {
      EXPECT_EQ(x, kernels::float_of(kernels::nearest_bf16(x)));
      EXPECT_FALSE(x == 0 && std::signbit(x));
    }
  }
  Graph large = network_of(0);
  for (auto& [value, tensor] : large.constants) {
    if (tensor.dims().size() == 4) tensor.values<float>()[0] = 3.4e38F;
  }
  EXPECT_THROW(to_bf16(large, {}), Error);
}

}  // namespace
}  // namespace hewn::flow
