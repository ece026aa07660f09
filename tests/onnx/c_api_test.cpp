// Networks of several inputs and outputs of all types, through the C functions and from files of both kinds.
#include "hewn/onnx/c_api.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>

#include "hewn/core/files.h"
#include "hewn/core/random.h"
#include "hewn/flow/composer.h"
#include "hewn/flow/evaluate.h"
#include "hewn/flow/model_file.h"
#include "hewn/onnx/export.h"
#include "hewn/onnx/open.h"
#include "tests/support/allocations.h"
#include "tests/support/temp_folder.h"

extern "C" int use_network_from_c(const char* path, const hewn_tensor inputs[3], float* y);

namespace hewn::onnx {
namespace {

using flow::Dims;
using flow::Graph;
using flow::Tensor;
using flow::Type;

double random_unit(uint64_t seed, uint64_t i) { return unit(draw(seed, Stream::kPattern, 0, i)[0]); }

Tensor noise(Dims dims, uint64_t seed) {
  Tensor out(flow::Spec{Type::kFloat, std::move(dims)});
  uint64_t i = 0;
  for (float& x : out.values<float>()) x = static_cast<float>(random_unit(seed, i++)) - 0.5F;
  return out;
}

/// Attention with a mask over embedded words: ids and mask (both batch x length) and a number come in; what
/// comes out is float, the largest channel of each word, and whether a word is hidden.
Graph words_graph() {
  flow::Composer to;
  const int32_t ids = to.input("ids", {Type::kInt, {-1, -1}});
  const int32_t mask = to.input("mask", {Type::kBool, {-1, -1}});
  const int32_t scale = to.input("scale", {Type::kFloat, {}});
  const int32_t x = to.node("Gather", "embed", {to.constant("table", noise({11, 8}, 1)), ids});
  const auto linear = [&](const std::string& name, int32_t in, uint64_t seed) {
    return to.node("MatMul", name, {in, to.constant(name + ".weight", noise({8, 8}, seed))});
  };
  const int32_t turned =
      to.node("Transpose", "turn", {linear("k", x, 3)}, {{"perm", std::vector<int64_t>{0, 2, 1}}});
  const int32_t dots = to.node("MatMul", "dots", {linear("q", x, 2), turned});
  const int32_t hidden = to.node("Not", "hidden", {mask});
  const int32_t rows = to.node("Unsqueeze", "rows", {hidden, to.list({1})});
  const int32_t scores =
      to.node("Where", "masked", {rows, to.number(-1e4F), to.node("Mul", "scaled", {dots, scale})});
  const int32_t read = to.node(
      "MatMul", "read", {to.node("Softmax", "soft", {scores}, {{"axis", int64_t{-1}}}), linear("v", x, 4)});
  const int32_t y = to.node(
      "LayerNormalization", "norm",
      {to.node("Add", "sum", {x, read}), to.constant("g", noise({8}, 5)), to.constant("b", noise({8}, 6))},
      {{"axis", int64_t{-1}}});
  const int32_t best = to.node("ArgMax", "best", {y}, {{"axis", int64_t{-1}}, {"keepdims", int64_t{0}}});
  Graph graph = to.finish(y, "y", {Type::kFloat, {-1, -1, 8}});
  graph.outputs.push_back({best, {Type::kInt, {-1, -1}}});
  graph.outputs.push_back({hidden, {Type::kBool, {-1, -1}}});
  return graph;
}

std::vector<Tensor> words(int64_t batch, int64_t length, uint64_t seed) {
  Tensor ids({Type::kInt, {batch, length}});
  Tensor mask({Type::kBool, {batch, length}});
  uint64_t number = 0;
  for (int64_t& id : ids.values<int64_t>()) id = static_cast<int64_t>(random_unit(seed, number++) * 11);
  for (int64_t i = 0; i < mask.elements(); ++i) mask.values<bool>()[static_cast<size_t>(i)] = i % length != 1;
  return {ids, mask, flow::tensor_of(0.7F)};
}

/// As C sees them, with the names of the graph's inputs.
std::vector<hewn_tensor> as_c(const Graph& graph, const std::vector<Tensor>& tensors) {
  std::vector<hewn_tensor> out;
  for (size_t i = 0; i < tensors.size(); ++i) {
    out.push_back({graph.name(graph.inputs[i].value).c_str(), static_cast<int32_t>(tensors[i].type()),
                   static_cast<int32_t>(tensors[i].dims().size()), tensors[i].dims().data(),
                   tensors[i].bytes()});
  }
  return out;
}

void expect_near(const float* got, const Tensor& expected) {
  const auto values = expected.values<float>();
  for (size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(got[i], values[i], 1e-5) << i;
}

using Handle = std::unique_ptr<hewn_network, void (*)(hewn_network*)>;

Handle load(const std::string& path) {
  hewn_network* network = nullptr;
  EXPECT_EQ(hewn_network_load(path.c_str(), &network), HEWN_OK) << hewn_last_error();
  return {network, hewn_network_free};
}

TEST(NetworksInC, RunFilesOfBothKindsAndSurviveMisuse) {
  const test::TempFolder folder;
  const Graph graph = words_graph();
  write_onnx(folder / "m.onnx", graph, {});
  flow::write_flow_model(folder / "m.hewn", graph, {});
  const std::vector<Tensor> inputs = words(2, 5, 1);
  const std::vector<Tensor> expected = evaluate(graph, inputs);
  const std::vector<hewn_tensor> given = as_c(graph, inputs);
  for (const char* file : {"m.onnx", "m.hewn"}) {
    std::vector<float> y(2 * 5 * 8);
    EXPECT_EQ(use_network_from_c((folder / file).c_str(), given.data(), y.data()), 0) << file;
    expect_near(y.data(), expected[0]);
  }
  hewn_network* network = nullptr;
  write_file_atomically(folder / "text.onnx", "no network");
  EXPECT_EQ(hewn_network_load((folder / "text.onnx").c_str(), &network), HEWN_BAD_FILE);
  EXPECT_EQ(network, nullptr);

  const Handle opened = load((folder / "m.hewn").string());
  std::vector<hewn_tensor> wrong = given;
  wrong[1].data = nullptr;
  EXPECT_EQ(hewn_network_run(opened.get(), wrong.data(), 3), HEWN_BAD_CALL);
  EXPECT_NE(std::string(hewn_last_error()).find("input mask: data is null"), std::string::npos);
  const int64_t dims[2] = {-2, 5};
  wrong[1] = given[1];
  wrong[0].dims = dims;
  EXPECT_EQ(hewn_network_run(opened.get(), wrong.data(), 3), HEWN_BAD_CALL);
  EXPECT_NE(std::string(hewn_last_error()).find("input ids"), std::string::npos) << hewn_last_error();
}

TEST(NetworksInC, AllocateNothingOnceTheyHaveSeenAShape) {
  const test::TempFolder folder;
  const Graph graph = words_graph();
  flow::write_flow_model(folder / "m.hewn", graph, {});
  const Handle network = load(folder / "m.hewn");
  const std::vector<std::vector<Tensor>> calls = {words(1, 5, 1), words(3, 9, 2), words(1, 5, 3),
                                                  words(2, 1, 4)};
  std::vector<std::vector<hewn_tensor>> given;
  for (const auto& inputs : calls) given.push_back(as_c(graph, inputs));
  for (const auto& inputs : given) ASSERT_EQ(hewn_network_run(network.get(), inputs.data(), 3), HEWN_OK);
  const int64_t before = support::allocations();
  hewn_tensor result{};
  for (int i = 0; i < 12; ++i) {
    hewn_network_run(network.get(), given[static_cast<size_t>(i) % 4].data(), 3);
    hewn_network_result(network.get(), 0, &result);
  }
  EXPECT_EQ(support::allocations(), before);
  // The last call's shapes and numbers, not those of a plan for another.
  const std::vector<Tensor> expected = evaluate(graph, calls[3]);
  ASSERT_EQ(Dims(result.dims, result.dims + result.rank), expected[0].dims());
  expect_near(static_cast<const float*>(result.data), expected[0]);
}

TEST(NetworksInC, CopiesRunInThreads) {
  const test::TempFolder folder;
  const Graph graph = words_graph();
  flow::write_flow_model(folder / "m.hewn", graph, {});
  const Handle first = load(folder / "m.hewn");
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, -1);
  for (size_t t = 0; t < wrong.size(); ++t) {
    hewn_network* copy = nullptr;
    ASSERT_EQ(hewn_network_copy(first.get(), &copy), HEWN_OK);
    threads.emplace_back([&, t, copy] {
      const Handle mine(copy, hewn_network_free);
      wrong[t] = 0;
      for (int64_t i = 0; i < 30; ++i) {
        const std::vector<Tensor> inputs =
            words(1 + i % 3, 2 + static_cast<int64_t>(t), static_cast<uint64_t>(i));
        const std::vector<Tensor> expected = evaluate(graph, inputs);
        hewn_tensor result{};
        if (hewn_network_run(mine.get(), as_c(graph, inputs).data(), 3) != HEWN_OK) ++wrong[t];
        if (hewn_network_result(mine.get(), 1, &result) != HEWN_OK) ++wrong[t];
        if (std::memcmp(result.data, expected[1].bytes(), expected[1].byte_count()) != 0) ++wrong[t];
        hewn_network_run(mine.get(), nullptr, 1);  // the message is this thread's own
        if (std::strstr(hewn_last_error(), "inputs is null") == nullptr) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

// What a plan looked at is its own: here a shape, which the caller has freed since.
TEST(NetworksInC, PlansKeepNothingOfTheCallersMemory) {
  flow::Composer to;
  const int32_t x = to.input("x", {Type::kFloat, {-1}});
  const int32_t shape = to.input("shape", {Type::kInt, {2}});
  const int32_t grown = to.node("Expand", "grown", {x, shape});
  Graph graph =
      to.finish(to.node("Concat", "y",
                        {grown, to.node("Cast", "also", {to.node("Unsqueeze", "row", {shape, to.list({0})})},
                                        {{"to", int64_t{1}}})},
                        {{"axis", int64_t{0}}}),
                "y", {Type::kFloat, {-1, -1}});
  flow::Network network(graph);
  const auto run = [&](int64_t rows) {
    const Tensor numbers = noise({2}, 1);
    const std::unique_ptr<int64_t[]> dims(new int64_t[2]{rows, 2});
    std::vector<Tensor> inputs = {numbers, Tensor()};
    const int64_t two = 2;
    inputs[1].point_at(Type::kInt, {&two, 1}, dims.get());
    const std::vector<Tensor> expected = evaluate(graph, inputs);
    EXPECT_EQ(
        std::memcmp(network.run_in_place(inputs)[0].bytes(), expected[0].bytes(), expected[0].byte_count()),
        0);
  };
  for (const int64_t rows : {3, 3, 4, 3, 5, 6, 7, 3}) run(rows);
}

}  // namespace
}  // namespace hewn::onnx
