#include "hewn/kernels/bsr.h"

#include <gtest/gtest.h>

#include "hewn/kernels/reference/bsr.h"
#include "tests/support/numbers.h"

namespace hewn::kernels {
namespace {

struct Case {
  WeightLayout layout;
  Pattern pattern;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  const Grid& grid = c.layout.grid;
  return out << grid.rows << "x" << grid.cols << " block " << to_string(grid.block) << " groups "
             << grid.groups << " taps " << c.layout.taps << " pattern " << static_cast<int>(c.pattern);
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{1, 1}, {7, 5}, {18, 3}, {45, 17}, {99, 33}}) {
    for (const BlockShape& block : {BlockShape{1, 1}, {4, 5}, {16, 16}, {100, 100}}) {
      for (const int64_t taps : {1, 9}) {
        for (const int64_t groups : {1, 3}) {
          if (rows % taps != 0 || cols % groups != 0) continue;
          for (const Pattern pattern : {Pattern::kRandom, Pattern::kEmpty, Pattern::kFull, Pattern::kOne}) {
            out.push_back({{{rows, cols, block, groups}, taps}, pattern});
          }
        }
      }
    }
  }
  return out;
}

/// Calls part(begin, end) twice, as two threads would share the column blocks.
template <class Part>
void in_two_parts(const Grid& grid, const Part& part) {
  part(0, grid.col_blocks() / 2);
  part(grid.col_blocks() / 2, grid.col_blocks());
}

TEST(Bsr, GatheringAndScatteringEqualTheReference) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(testing::Message() << c);
    const Grid& grid = c.layout.grid;
    const BsrPattern pattern = make_pattern(grid, support_of(grid, c.pattern).data());
    const std::vector<float> weight = numbers(grid.elements(), 1);
    const std::vector<float> gate = numbers(grid.blocks(), 2);
    for (const float* gates : {gate.data(), static_cast<const float*>(nullptr)}) {
      std::vector<float> values(static_cast<size_t>(pattern.value_floats()), 7.0F), expected = values;
      in_two_parts(grid, [&](int64_t begin, int64_t end) {
        gather_blocks(pattern, c.layout, weight.data(), gates, values.data(), begin, end);
      });
      reference::gather_blocks(pattern, c.layout, weight.data(), gates, expected.data(), 0,
                               grid.col_blocks());
      ASSERT_EQ(values, expected);

      std::vector<float> back(weight.size(), 7.0F), expected_back = back;
      in_two_parts(grid, [&](int64_t begin, int64_t end) {
        scatter_blocks(pattern, c.layout, values.data(), back.data(), begin, end);
      });
      reference::scatter_blocks(pattern, c.layout, values.data(), expected_back.data(), 0, grid.col_blocks());
      ASSERT_EQ(back, expected_back);
    }
  }
}

TEST(Bsr, GradientsOfTheGateEqualTheReference) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(testing::Message() << c);
    const Grid& grid = c.layout.grid;
    const BsrPattern pattern = make_pattern(grid, support_of(grid, c.pattern).data());
    const std::vector<float> weight = numbers(grid.elements(), 1);
    const std::vector<float> gate = numbers(grid.blocks(), 2);
    for (const float* gates : {gate.data(), static_cast<const float*>(nullptr)}) {
      std::vector<float> grad = numbers(pattern.value_floats(), 3), expected = grad;
      std::vector<float> grad_gate(gate.size(), 7.0F), expected_gate = grad_gate;
      in_two_parts(grid, [&](int64_t begin, int64_t end) {
        gate_backward(pattern, c.layout, weight.data(), gates, grad.data(), grad_gate.data(), begin, end);
      });
      reference::gate_backward(pattern, c.layout, weight.data(), gates, expected.data(), expected_gate.data(),
                               0, grid.col_blocks());
      ASSERT_EQ(grad, expected);
      ASSERT_LT(largest_difference(grad_gate, expected_gate), 1e-6);
    }
  }
}

TEST(Bsr, OutputBlocksComeFirst) {
  const Grid grid{4, 6, {2, 2}};
  const std::vector<uint8_t> support = {1, 0, 1,   // inputs 0 and 1
                                        1, 0, 0};  // inputs 2 and 3
  const BsrPattern pattern = make_pattern(grid, support.data());
  EXPECT_EQ(pattern.begin, (std::vector<int32_t>{0, 2, 2, 3}));
  EXPECT_EQ(pattern.row, (std::vector<int32_t>{0, 1, 0}));
  EXPECT_EQ(make_pattern(grid, nullptr).kept(), 6);
}

}  // namespace
}  // namespace hewn::kernels
