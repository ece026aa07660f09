#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "hewn/core/error.h"
#include "hewn/runtime/instructions.h"
#include "hewn/runtime/model.h"
#include "tests/runtime/models.h"

namespace hewn::runtime {
namespace {

std::vector<float> run(Model& model, const std::vector<float>& input, int64_t batch) {
  std::vector<float> output(static_cast<size_t>(batch * model.outputs()), 1e30F);
  model.run(input.data(), batch, output.data());
  return output;
}

TEST(Executor, EveryOpEqualsItsDefinition) {
  for (const NamedGraph& sample : sample_graphs()) {
    for (const BlockShape& block : {BlockShape{1, 1}, {4, 4}, {5, 3}, {16, 16}, {64, 8}}) {
      for (const Pattern pattern : {Pattern::kRandom, Pattern::kFull, Pattern::kEmpty}) {
        const ModelData data = with_weights(sample.graph, block, pattern);
        Model model(data);
        model.set_threads(1);
        for (const int64_t batch : {7, 1}) {
          SCOPED_TRACE(testing::Message()
                       << sample.name << ", block " << to_string(block) << ", batch " << batch);
          const std::vector<float> input = inputs_for(sample.graph, batch, 5);
          ASSERT_LT(largest_difference(run(model, input, batch), by_definition(data, input, batch)), 1e-5);
        }
      }
    }
  }
}

TEST(Executor, BatchesAndThreadsGiveTheSameBits) {
  for (const NamedGraph& sample : sample_graphs()) {
    const ModelData data = with_weights(sample.graph, {4, 4}, Pattern::kRandom);
    Model model(data);
    const int64_t inputs = model.inputs();
    const std::vector<float> input = inputs_for(sample.graph, 256, 6);
    std::vector<float> expected = by_definition(data, input, 256);
    for (const int64_t batch : {256, 33, 1, 7, 64, 100, 33}) {  // buffers stay dirty from one to the next
      SCOPED_TRACE(testing::Message() << sample.name << ", batch " << batch);
      const std::vector<float> part(input.begin(), input.begin() + batch * inputs);
      model.set_threads(1);
      const std::vector<float> one = run(model, part, batch);
      const std::vector<float> right(expected.begin(), expected.begin() + batch * model.outputs());
      ASSERT_LT(largest_difference(one, right), 1e-5);
      for (const int threads : {2, 3, 5}) {
        model.set_threads(threads);
        ASSERT_EQ(run(model, part, batch), one) << threads << " threads";
      }
    }
  }
}

/// All buffers after the program's instructions, each done in so many shares.
std::vector<std::vector<float>> buffers_after(const Program& program, int64_t parts) {
  constexpr int64_t kColumns = 8;
  std::vector<std::vector<float>> memory;
  std::vector<float*> buffers;
  for (const Buffer& buffer : program.buffers) memory.push_back(numbers(buffer.rows * kColumns, 3));
  for (const PackedTable& table : program.tables) {
    std::vector<float>& input = memory[static_cast<size_t>(program.values.front().buffer)];
    for (size_t f = 0; f + 1 < table.first.size(); ++f) {
      for (int64_t c = 0; c < kColumns; ++c) {
        input[f * kColumns + static_cast<size_t>(c)] =
            static_cast<float>(c % (table.first[f + 1] - table.first[f]));
      }
    }
  }
  for (std::vector<float>& buffer : memory) buffers.push_back(buffer.data());
  for (const Instruction& instruction : program.instructions) {
    for (int64_t part = 0; part < parts; ++part)
      run_instruction(program, instruction, {buffers, kColumns}, part, parts);
  }
  return memory;
}

TEST(Steps, SharesTogetherDoTheWholeStep) {
  for (const NamedGraph& sample : sample_graphs()) {
    const Program program = make_program(with_weights(sample.graph, {4, 4}, Pattern::kRandom), {});
    for (const int64_t parts : {2, 3, 7, 64}) {
      EXPECT_EQ(buffers_after(program, parts), buffers_after(program, 1))
          << sample.name << ", " << parts << " parts";
    }
  }
}

TEST(Executor, CopiesShareWeightsAndNothingElse) {
  const Graph graph = sample_graphs()[4].graph;
  const ModelData data = with_weights(graph, {4, 4}, Pattern::kRandom);
  Model first(data);
  const std::vector<float> a = numbers(9 * first.inputs(), 1);
  const std::vector<float> b = numbers(9 * first.inputs(), 2);
  Model second(first);
  const std::vector<float> of_a = run(first, a, 9);
  const std::vector<float> of_b = run(second, b, 9);
  EXPECT_EQ(run(first, b, 9), of_b);
  EXPECT_EQ(run(second, a, 9), of_a);
  second = first;
  EXPECT_EQ(run(second, a, 9), of_a);
}

TEST(Executor, CopiesRunAtOnceOnThreadsOfTheirOwn) {
  const NamedGraph sample = sample_graphs()[4];
  const Model model(with_weights(sample.graph, {4, 4}, Pattern::kRandom));
  std::vector<std::vector<float>> got(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < got.size(); ++i) {
    threads.emplace_back([&, i] {
      Model own(model);
      own.set_threads(static_cast<int>(i % 3) + 1);
      for (int again = 0; again < 3; ++again) got[i] = run(own, inputs_for(sample.graph, 64, i), 64);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < got.size(); ++i) {
    Model alone(model);
    EXPECT_EQ(run(alone, inputs_for(sample.graph, 64, i), 64), got[i]);
  }
}

int64_t count(const Program& program, Op op) {
  return std::count_if(program.instructions.begin(), program.instructions.end(),
                       [&](const Instruction& instruction) { return instruction.node.op == op; });
}

TEST(Program, FusesBiasAddAndReluIntoTheProducts) {
  for (const NamedGraph& sample : sample_graphs()) {
    if (!sample.name.starts_with("residual") && sample.name != "option A shortcut" && sample.name != "mlp")
      continue;
    const Program program = make_program(with_weights(sample.graph, {4, 4}, Pattern::kRandom), {});
    EXPECT_EQ(count(program, Op::kAdd) + count(program, Op::kRelu), 0) << sample.name;
  }
}

TEST(Program, ReusesBuffersAlongADeepNetwork) {
  Graph graph;
  int32_t x = graph.conv2d("stem", graph.input({8, 8, 8}), 8, {3, 3, 1, 1, 1});
  for (int i = 0; i < 20; ++i) {
    const std::string name = std::to_string(i);
    const int32_t y = graph.relu(graph.conv2d("a" + name, x, 8, {3, 3, 1, 1, 1}));
    x = graph.relu(graph.add(graph.conv2d("b" + name, y, 8, {3, 3, 1, 1, 1}), x));
  }
  const Program program = make_program(with_weights(graph, {4, 4}, Pattern::kRandom), {});
  EXPECT_LE(program.buffers.size(), 3U);
}

TEST(Program, RefusesWhatGoesBeyondTheLimits) {
  Graph graph;
  const int32_t x = graph.input({4, 16, 16});
  graph.conv2d("a", x, 8, {3, 3, 1, 1, 1});
  const ModelData data = with_weights(graph, {4, 4}, Pattern::kFull);
  EXPECT_NO_THROW(make_program(data, {}));
  EXPECT_THROW(make_program(data, {2047, 1 << 20, 1 << 20}), Error);
  EXPECT_THROW(make_program(data, {1 << 20, 4 * 18 * 18 + 8 * 256 - 1, 1 << 20}), Error);
  EXPECT_THROW(make_program(data, {1 << 20, 1 << 20, 36 * 2048 - 1}), Error);
  EXPECT_NO_THROW(make_program(data, {2048, 4 * 18 * 18 + 8 * 256, 36 * 2048}));
}

}  // namespace
}  // namespace hewn::runtime
