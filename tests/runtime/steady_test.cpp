// A server's loop: once batches of a size have been seen, nothing is allocated.
#include <gtest/gtest.h>

#include "hewn/runtime/model.h"
#include "tests/runtime/models.h"
#include "tests/support/allocations.h"

namespace hewn::runtime {
namespace {

TEST(Steady, BatchesThatRepeatAllocateNothing) {
  for (const NamedGraph& sample : sample_graphs()) {
    if (sample.name == "option A shortcut") continue;  // Pad runs row-major, with memory of its own
    Model model(with_weights(sample.graph, {4, 4}, Pattern::kRandom));
    for (const int threads : {1, 3}) {
      model.set_threads(threads);
      for (const int64_t batch : {1, 7, 64}) {
        SCOPED_TRACE(testing::Message()
                     << sample.name << ", batch " << batch << ", " << threads << " threads");
        const std::vector<float> input = inputs_for(sample.graph, batch, 5);
        std::vector<float> output(static_cast<size_t>(batch * model.outputs()));
        for (int i = 0; i < 3; ++i) model.run(input.data(), batch, output.data());
        const int64_t before = support::allocations();
        for (int i = 0; i < 3; ++i) model.run(input.data(), batch, output.data());
        EXPECT_EQ(support::allocations(), before);
      }
    }
  }
}

// What runs row-major asks for memory of its own, and for as much in every call.
TEST(Steady, RowMajorStepsAskForTheSameEveryTime) {
  for (const NamedGraph& sample : sample_graphs()) {
    if (sample.name != "option A shortcut") continue;
    Model model(with_weights(sample.graph, {4, 4}, Pattern::kRandom));
    model.set_threads(3);
    const std::vector<float> input = inputs_for(sample.graph, 64, 5);
    std::vector<float> output(static_cast<size_t>(64 * model.outputs()));
    const auto asked = [&] {
      const int64_t before = support::allocations();
      model.run(input.data(), 64, output.data());
      return support::allocations() - before;
    };
    asked();
    const int64_t usual = asked();
    for (int i = 0; i < 20; ++i) EXPECT_EQ(asked(), usual);
  }
}

}  // namespace
}  // namespace hewn::runtime
