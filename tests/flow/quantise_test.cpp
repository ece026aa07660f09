// Graphs in 8 bits: exactly the graph where its numbers are bytes, nearly the graph elsewhere.
#include "hewn/flow/int8/quantise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/flow/composer.h"
#include "hewn/flow/evaluate.h"
#include "hewn/flow/model_file.h"
#include "hewn/flow/network.h"
#include "tests/support/allocations.h"
#include "tests/support/temp_folder.h"

namespace hewn::flow {
namespace {

using List = std::vector<int64_t>;

class Dice {
 public:
  explicit Dice(uint32_t seed) : state_(seed * 2654435761U + 12345U) {}
  uint32_t roll(uint32_t sides) {
    state_ = state_ * 1664525U + 1013904223U;
    return (state_ >> 8) % sides;
  }
  float number() { return static_cast<float>(roll(1U << 20)) / static_cast<float>(1U << 19) - 1; }

 private:
  uint32_t state_;
};

/// Whole numbers from `least` on, of which so many of ten are zero.
Tensor whole(const Dims& dims, int least, uint32_t sides, uint32_t zeros, uint32_t seed) {
  Tensor out(Spec{Type::kFloat, dims});
  Dice dice(seed);
  for (float& x : out.values<float>()) {
    const auto value = static_cast<float>(static_cast<int>(dice.roll(sides)) + least);
    x = dice.roll(10) < zeros ? 0 : value;
  }
  return out;
}

/// Every value in steps of 1 and every weight with the scale 1: whole numbers stay what they are.
void hold_whole_numbers(Graph& graph, int32_t zero) {
  for (const Node& node : graph.nodes) {
    const bool matrix = node.op == "MatMul";
    if (node.op != "Conv" && node.op != "Gemm" && !matrix) continue;
    const Dims& dims = graph.constants.at(node.inputs[1]).dims();
    const int64_t axis = matrix ? 1 : 0;
    graph.weight_bytes[node.inputs[1]] = {
        axis, std::vector<float>(static_cast<size_t>(dims[static_cast<size_t>(axis)]), 1.0F)};
    graph.bytes[node.inputs[0]] = {1, node.inputs[0] == graph.inputs[0].value ? 3 : zero};
  }
  for (const Node& node : graph.nodes) {
    if (node.op == "MaxPool" || node.op == "Add") {
      for (const int32_t in : node.inputs) {
        if (graph.constant(in) == nullptr) graph.bytes[in] = {1, zero};
      }
    }
    if (node.op == "GlobalAveragePool") graph.bytes[node.inputs[0]] = {1, zero};
  }
}

/// `zeros`: what stands for 0 inside; bytes reach from -zero to 255 - zero.
void expect_exactly(const Graph& graph, const Tensor& input, const std::vector<int32_t>& zeros) {
  const Tensor expected = evaluate(graph, {input})[0];
  for (const int32_t zero : zeros) {
    Graph bytes = graph;
    hold_whole_numbers(bytes, zero);
    Network network(bytes);
    for (const int threads : {1, 2, 3}) {
      network.set_threads(threads);
      const Tensor got = network.run({input})[0];
      ASSERT_EQ(got.spec(), expected.spec());
      for (size_t i = 0; i < expected.values<float>().size(); ++i) {
        ASSERT_NEAR(got.values<float>()[i], expected.values<float>()[i], 1e-5) << i << " zero " << zero;
      }
    }
  }
}

struct ConvCase {
  int64_t batch, channels, outputs, size, kernel, stride, pad, groups, dilation;
};

int32_t add_conv(Composer& to, int32_t x, const ConvCase& c, int64_t channels, const std::string& name) {
  const auto seed = static_cast<uint32_t>(name.size() + static_cast<size_t>(c.outputs));
  return to.node(
      "Conv", name,
      {x,
       to.constant(name + ".w", whole({c.outputs, channels / c.groups, c.kernel, c.kernel}, -1, 3, 6, seed)),
       to.constant(name + ".b", whole({c.outputs}, -2, 6, 0, seed + 1))},
      {{"strides", List{c.stride, c.stride}},
       {"pads", List(4, c.pad)},
       {"dilations", List{c.dilation, c.dilation}},
       {"group", c.groups}});
}

TEST(Quantise, WholeNumbersGoThroughConvolutionsExactly) {
  const std::vector<ConvCase> cases = {{1, 3, 5, 7, 3, 1, 1, 1, 1},   {2, 4, 8, 9, 3, 2, 1, 1, 1},
                                       {1, 8, 12, 14, 1, 1, 0, 1, 1}, {3, 5, 9, 11, 5, 2, 2, 1, 1},
                                       {1, 8, 16, 8, 3, 1, 1, 2, 1},  {1, 16, 20, 33, 3, 1, 2, 1, 2},
                                       {2, 3, 16, 24, 7, 2, 3, 1, 1}, {1, 1, 1, 1, 1, 1, 0, 1, 1},
                                       {1, 6, 4, 10, 1, 2, 0, 1, 1},  {1, 6, 6, 9, 3, 1, 1, 6, 1}};
  for (const ConvCase& c : cases) {
    for (const bool relu : {false, true}) {
      Composer to;
      int32_t x = to.input("x", {Type::kFloat, {-1, c.channels, c.size, c.size}});
      x = add_conv(to, x, c, c.channels, "first");
      if (relu) x = to.node("Relu", "relu", {x});
      x = add_conv(to, x, {c.batch, c.outputs, 6, 0, 1, 1, 0, 1, 1}, c.outputs, "second");
      const Graph graph = to.finish(x, "y", {Type::kFloat, {-1, 6, -1, -1}});
      SCOPED_TRACE(testing::Message() << c.channels << " " << c.outputs << " " << c.kernel << " " << c.stride
                                      << " " << c.groups);
      expect_exactly(graph, whole({c.batch, c.channels, c.size, c.size}, -1, 3, 0, 5),
                     relu ? std::vector<int32_t>{0, 100} : std::vector<int32_t>{100, 128});
    }
  }
}

/// A residual block behind a stem and a pool, as networks for images have them.
Graph residual(const std::function<Tensor(Dims, uint32_t)>& weight, int64_t size) {
  Composer to;
  uint32_t seed = 1;
  const auto conv = [&](int32_t x, int64_t in, int64_t out, int64_t kernel, int64_t stride) {
    ++seed;
    const std::string name = "conv" + std::to_string(seed);
    return to.node("Conv", name,
                   {x, to.constant(name + ".w", weight({out, in, kernel, kernel}, seed)),
                    to.constant(name + ".b", weight({out}, seed + 50))},
                   {{"strides", List{stride, stride}}, {"pads", List(4, kernel / 2)}});
  };
  int32_t x = to.input("x", {Type::kFloat, {-1, 3, size, size}});
  x = to.node("Relu", "r0", {conv(x, 3, 8, 3, 2)});
  x = to.node("MaxPool", "pool", {x},
              {{"kernel_shape", List{3, 3}}, {"strides", List{2, 2}}, {"pads", List(4, 1)}});
  const int32_t inner = to.node("Relu", "r1", {conv(x, 8, 8, 3, 1)});
  x = to.node("Relu", "r2", {to.node("Add", "a1", {conv(inner, 8, 8, 3, 1), x})});
  const int32_t down = to.node("Relu", "r3", {conv(x, 8, 12, 3, 2)});
  const int32_t branch = conv(down, 12, 12, 3, 1);
  x = to.node("Relu", "r4", {to.node("Add", "a2", {branch, conv(x, 8, 12, 1, 2)})});
  x = to.node("Flatten", "flat", {to.node("GlobalAveragePool", "mean", {x})}, {{"axis", int64_t{1}}});
  x = to.node("Gemm", "fc",
              {x, to.constant("fc.w", weight({10, 12}, 99)), to.constant("fc.b", weight({10}, 98))},
              {{"transB", int64_t{1}}});
  return to.finish(x, "y", {Type::kFloat, {-1, 10}});
}

TEST(Quantise, WholeNumbersGoThroughAResidualNetworkExactly) {
  Graph graph = residual([](Dims dims, uint32_t seed) { return whole(dims, -1, 3, 9, seed); }, 20);
  // Means are no whole numbers: the last layer stays as it is.
  graph.nodes.pop_back();
  graph.outputs[0] = {graph.nodes.back().outputs[0], {Type::kFloat, {-1, 12}}};
  for (const int64_t batch : {1, 3}) expect_exactly(graph, whole({batch, 3, 20, 20}, -1, 3, 2, 3), {100});
}

TEST(Quantise, WholeNumbersGoThroughProductsExactly) {
  for (const int64_t batch : {1, 2, 9, 50}) {
    for (const int64_t width : {4, 7, 20, 33}) {
      Composer to;
      int32_t x = to.input("x", {Type::kFloat, {-1, 11}});
      x = to.node("Gemm", "one",
                  {x, to.constant("w1", whole({width, 11}, -2, 5, 5, 1)),
                   to.constant("b1", whole({width}, -3, 7, 0, 2))},
                  {{"transB", int64_t{1}}});
      x = to.node("Relu", "relu", {x});
      x = to.node("MatMul", "two", {x, to.constant("w2", whole({width, 9}, -1, 3, 5, 3))});
      x = to.node("Add", "bias", {x, to.constant("b2", whole({9}, -3, 7, 0, 4))});
      expect_exactly(to.finish(x, "y", {Type::kFloat, {-1, 9}}), whole({batch, 11}, -2, 5, 0, 5), {0, 100});
    }
  }
}

Tensor noise(const Dims& dims, uint32_t seed) {
  Tensor out(Spec{Type::kFloat, dims});
  Dice dice(seed);
  double rows = 1;
  for (size_t d = 1; d < dims.size(); ++d) rows *= static_cast<double>(dims[d]);
  for (float& x : out.values<float>()) x = dice.number() * static_cast<float>(2 / std::sqrt(rows));
  return out;
}

Tensor images(int64_t count, uint32_t seed) {
  Tensor out(Spec{Type::kFloat, {count, 3, 20, 20}});
  Dice dice(seed);
  for (float& x : out.values<float>()) x = dice.number();
  return out;
}

double relative_error(const Tensor& got, const Tensor& expected) {
  double error = 0;
  double norm = 0;
  for (size_t i = 0; i < got.values<float>().size(); ++i) {
    error += std::pow(got.values<float>()[i] - expected.values<float>()[i], 2);
    norm += std::pow(expected.values<float>()[i], 2);
  }
  return std::sqrt(error / norm);
}

TEST(Quantise, CalibratedNetworksAreNearlyTheNetwork) {
  Network whole_network(residual(noise, 20));
  const Tensor input = images(4, 77);
  const Tensor expected = whole_network.run({input})[0];
  for (const double percentile : {100.0, 99.9}) {
    Graph graph = residual(noise, 20);
    const auto layers =
        quantise(graph, {{images(8, 1)}, {images(8, 2)}}, {.percentile = percentile, .keep = {}});
    ASSERT_EQ(layers.size(), 7U);
    for (const QuantisedLayer& layer : layers) EXPECT_TRUE(layer.bytes) << layer.name << layer.why;
    Network network(graph);
    const Tensor got = network.run({input})[0];
    EXPECT_LT(relative_error(got, expected), 0.06) << percentile;
    EXPECT_GT(relative_error(got, expected), 0) << "it did not run in 8 bits";
  }
}

TEST(Quantise, ThreadsAndBatchesNeverChangeABit) {
  Graph graph = residual(noise, 20);
  quantise(graph, {{images(8, 1)}}, {});
  const Tensor input = images(5, 3);
  Network network(graph);
  const Tensor expected = network.run({input})[0];
  for (const int threads : {2, 3, 7}) {
    network.set_threads(threads);
    const Tensor got = network.run({input})[0];
    EXPECT_EQ(std::memcmp(got.bytes(), expected.bytes(), got.byte_count()), 0) << threads;
  }
}

TEST(Quantise, LayersCanBeKept) {
  Graph graph = residual(noise, 20);
  const auto layers = quantise(graph, {{images(8, 1)}}, {.percentile = 100, .keep = {"conv2", "fc"}});
  EXPECT_FALSE(layers.front().bytes);
  EXPECT_FALSE(layers.back().bytes);
  EXPECT_EQ(layers.back().why, "asked for");
  EXPECT_TRUE(layers[1].bytes);
  EXPECT_EQ(layers_of(graph).size(), layers.size());
  EXPECT_FALSE(layers_of(graph).front().bytes);
  EXPECT_TRUE(layers_of(graph)[1].bytes);
  EXPECT_THROW(quantise(graph, {}, {}), Error);
}

TEST(Quantise, NothingIsAllocatedInSteadyState) {
  Graph graph = residual(noise, 20);
  quantise(graph, {{images(8, 1)}}, {});
  for (const int64_t batch : {1, 4}) {
    Network network(graph);
    const std::vector<Tensor> input = {images(batch, 3)};
    std::vector<Tensor> output = network.run(input);
    const int64_t before = support::allocations();
    for (int i = 0; i < 5; ++i) network.run(input, output);
    EXPECT_EQ(support::allocations(), before);
  }
}

Graph quantised() {
  Graph graph = residual(noise, 20);
  // Blocks of zeros, so that some weights are not kept whole.
  for (auto& [value, tensor] : graph.constants) {
    if (tensor.dims().size() != 4 || tensor.dims()[1] != 12) continue;
    auto values = tensor.values<float>();
    for (size_t i = 0; i < values.size(); ++i) values[i] = i / 9 % 12 < 8 ? 0 : values[i];
  }
  quantise(graph, {{images(8, 1)}}, {});
  return graph;
}

TEST(Quantise, FilesHoldBytesAndGiveTheSameBits) {
  const test::TempFolder folder;
  const Graph graph = quantised();
  write_flow_model(folder / "int8.hewn", graph, {});
  write_flow_model(folder / "fp32.hewn", residual(noise, 20), {});
  const Graph read = read_flow_model(folder / "int8.hewn").graph;
  EXPECT_EQ(read.bytes, graph.bytes);
  const Tensor input = images(3, 9);
  const Tensor expected = Network(graph).run({input})[0];
  const Tensor got = Network(read).run({input})[0];
  EXPECT_EQ(std::memcmp(got.bytes(), expected.bytes(), got.byte_count()), 0);
  for (const QuantisedLayer& layer : layers_of(read)) EXPECT_TRUE(layer.bytes) << layer.name;
  EXPECT_LT(std::filesystem::file_size(folder / "int8.hewn"),
            std::filesystem::file_size(folder / "fp32.hewn"));
}

TEST(Quantise, DamagedFilesAreRefused) {
  const test::TempFolder folder;
  write_flow_model(folder / "int8.hewn", quantised(), {});
  const std::string bytes = read_file(folder / "int8.hewn");
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
  const std::vector<std::pair<std::string, std::string>> edits = {{"\\\"zero\\\":", "\\\"zera\\\":"},
                                                                  {"\\\"zero\\\":0", "\\\"zero\\\":-"},
                                                                  {"\\\"scale\\\":0", "\\\"scale\\\":-"},
                                                                  {"\\\"axis\\\":0", "\\\"axis\\\":1"},
                                                                  {"\\\"axis\\\":0", "\\\"axis\\\":7"},
                                                                  {".scales", ".scalez"},
                                                                  {".bytes", ".bytez"},
                                                                  {".fours", ".fourz"},
                                                                  {"\"dtype\":\"I8\"", "\"dtype\":\"U8\""},
                                                                  {"[\\\"int8\\\"]", "[\\\"int9\\\"]"}};
  for (const auto& [from, to] : edits) {
    std::string edited = bytes;
    const size_t at = edited.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    edited.replace(at, to.size(), to);
    EXPECT_FALSE(parses(edited)) << to;
  }
  // Any byte of the data: a scale that is none, a weight of -128, or another network.
  for (size_t at = bytes.size() - 3000; at < bytes.size(); at += 41) {
    for (const char byte : {'\x80', '\xff', '\x7f'}) {
      std::string edited = bytes;
      edited[at] = byte;
      parses(edited);
    }
  }
}

}  // namespace
}  // namespace hewn::flow
