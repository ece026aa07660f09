#include "hewn/kernels/planes/planes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hewn/core/random.h"
#include "hewn/kernels/bsr.h"
#include "hewn/kernels/planes/matrices.h"
#include "hewn/kernels/reference/matrices.h"
#include "hewn/kernels/reference/planes.h"

namespace hewn::kernels {
namespace {

std::vector<float> noise(int64_t count, uint32_t seed) {
  std::vector<float> out(static_cast<size_t>(count));
  uint32_t state = seed * 2654435761U + 1;
  for (float& x : out) {
    state = state * 1664525U + 1013904223U;
    x = static_cast<float>(state >> 8) / static_cast<float>(1U << 23) - 1;
  }
  return out;
}

struct Case {
  int64_t channels, outputs, block, pixels;
  int taps;
};

TEST(Planes, EqualTheirFormulaOverAwkwardShapes) {
  const std::vector<Case> cases = {{1, 1, 1, 1, 1},     {3, 5, 4, 9, 9},     {16, 16, 16, 56, 9},
                                   {20, 24, 16, 33, 1}, {64, 40, 8, 300, 9}, {7, 64, 32, 129, 4},
                                   {700, 12, 16, 40, 4}};
  for (const Case& c : cases) {
    for (const int density : {0, 1, 3, 4}) {  // of four blocks
      const Grid grid{c.channels * c.taps, c.outputs, {c.block, c.block}};
      std::vector<uint8_t> support(static_cast<size_t>(grid.row_blocks() * grid.col_blocks()));
      for (size_t i = 0; i < support.size(); ++i) support[i] = static_cast<int>(i * 7 % 4) < density ? 1 : 0;
      const BsrPattern pattern = make_pattern(grid, support.data());
      Packed packed = Packed::linear(pattern);
      packed.fill(noise(pattern.value_floats() + 1, 1).data());
      const int64_t lead = 24;
      const int64_t stride = lead + c.pixels + 48;
      std::vector<int64_t> taps;
      for (int t = 0; t < c.taps; ++t) taps.push_back(t / 3 * 10 + t % 3 - 11);
      PlaneRuns runs = plane_runs(packed, c.channels, taps, stride);
      const auto in = noise(c.channels * stride, 2);
      const auto bias = noise(c.outputs, 3);
      const auto add = noise(c.outputs * stride, 4);
      for (int options = 0; options < 8; ++options) {
        const bool whole = (options & 1) != 0;
        runs.gathers = (options & 2) != 0;
        std::vector<float> fast(static_cast<size_t>(c.outputs * stride), 9.0F);
        std::vector<float> plain = fast;
        PlaneProduct product{&packed, &runs, in.data() + lead, stride, fast.data() + lead, stride};
        if (whole) product.bias = bias.data();
        if (whole) product.add = add.data() + lead;
        product.relu = whole;
        product.then = {(options & 4) != 0, Function::kHardSwish};
        multiply_planes(product, 0, c.pixels, 0, packed.tile_count());
        product.out = plain.data() + lead;
        reference::multiply_planes(product, 0, c.pixels, 0, packed.tile_count());
        for (int64_t j = 0; j < c.outputs; ++j) {
          for (int64_t p = 0; p < c.pixels; ++p) {
            const auto at = static_cast<size_t>(j * stride + lead + p);
            EXPECT_NEAR(fast[at], plain[at], 1e-4) << j << " " << p;
          }
        }
        // What is added may lie where the result will.
        fast = plain = add;
        product.add = product.out = fast.data() + lead;
        multiply_planes(product, 0, c.pixels, 0, packed.tile_count());
        product.add = product.out = plain.data() + lead;
        reference::multiply_planes(product, 0, c.pixels, 0, packed.tile_count());
        for (int64_t j = 0; j < c.outputs; ++j) {
          for (int64_t p = 0; p < c.pixels; ++p) {
            const auto at = static_cast<size_t>(j * stride + lead + p);
            EXPECT_NEAR(fast[at], plain[at], 1e-4) << "over " << j << " " << p;
          }
        }
      }
    }
  }
}

TEST(Planes, LeaveOutTapsThatAreNotNeeded) {
  const int64_t channels = 20;
  const int64_t stride = 200;
  const Grid grid{channels * 9, 24, {16, 16}};
  std::vector<uint8_t> support(static_cast<size_t>(grid.row_blocks() * grid.col_blocks()));
  for (size_t i = 0; i < support.size(); ++i) support[i] = i % 3 != 0 ? 1 : 0;
  const BsrPattern pattern = make_pattern(grid, support.data());
  const std::vector<int64_t> taps = {-13, -12, -11, -1, 0, 1, 11, 12, 13};
  const auto in = noise(channels * stride, 2);
  for (const TapRange needed : {TapRange{0, 9}, {3, 9}, {0, 6}, {3, 6}, {4, 4}, {9, 9}}) {
    const auto product = [&](Packed& packed, const PlaneRuns& runs, const std::vector<float>& values,
                             auto multiply) {
      packed.fill(values.data());
      std::vector<float> out(static_cast<size_t>(24 * stride), 0.0F);
      multiply({&packed, &runs, in.data() + 30, stride, out.data() + 30, stride}, 0, 100, 0,
               packed.tile_count());
      return out;
    };
    const auto values = noise(pattern.value_floats(), 1);
    auto zeroed = values;
    each_block(pattern, zeroed.data(), 0, grid.col_blocks(),
               [&](float* block, int64_t, const BlockExtent& at) {
                 for (int64_t i = 0; i < at.rows; ++i) {
                   const int64_t tap = (at.row + i) / channels;
                   for (int64_t j = 0; j < 16 && (tap < needed.first || tap >= needed.last); ++j)
                     block[j * 16 + i] = 0;
                 }
               });
    Packed packed = Packed::linear(pattern);
    const auto expected =
        product(packed, plane_runs(packed, channels, taps, stride), zeroed, reference::multiply_planes);
    const PlaneRuns some = plane_runs(packed, channels, taps, stride, needed);
    EXPECT_EQ(product(packed, some, values, reference::multiply_planes), expected);
    const auto fast = product(packed, some, values, multiply_planes);
    for (int64_t j = 0; j < 24; ++j) {
      for (int64_t p = 30; p < 130; ++p) {
        const auto at = static_cast<size_t>(j * stride + p);
        EXPECT_NEAR(fast[at], expected[at], 1e-4) << j << " " << p;
      }
    }
  }
}

TEST(Planes, TapsFindTheirPixels) {
  // One channel, one output, the weight of each tap alone.
  const Grid grid{9, 1, {1, 1}};
  const auto in = noise(200, 5);
  for (int tap = 0; tap < 9; ++tap) {
    std::vector<uint8_t> support(9, 0);
    support[static_cast<size_t>(tap)] = 1;
    Packed packed = Packed::linear(make_pattern(grid, support.data()));
    const float one = 1;
    packed.fill(&one);
    std::vector<int64_t> taps;
    for (int t = 0; t < 9; ++t) taps.push_back((t / 3 - 1) * 12 + t % 3 - 1);
    const PlaneRuns runs = plane_runs(packed, 1, taps, 200);
    std::vector<float> out(200, 0.0F);
    multiply_planes({&packed, &runs, in.data() + 30, 200, out.data() + 30, 200}, 0, 100, 0, 1);
    for (size_t p = 0; p < 100; ++p) {
      EXPECT_EQ(out[30 + p],
                in[static_cast<size_t>(30 + static_cast<int64_t>(p) + taps[static_cast<size_t>(tap)])]);
    }
  }
}

TEST(Planes, MatricesEqualTheirFormula) {
  for (const auto& [rows, inner, columns] :
       {std::array<int64_t, 3>{1, 1, 1}, {5, 3, 7}, {8, 64, 64}, {197, 64, 197}, {9, 0, 9}, {13, 31, 41}}) {
    const auto a = noise(rows * inner + 1, 1);
    const auto b = noise(inner * columns + 1, 2);
    std::vector<float> fast(static_cast<size_t>(rows * columns), 7.0F);
    std::vector<float> plain = fast;
    MatrixProduct product{rows, inner, columns, a.data(), b.data(), fast.data()};
    multiply_matrices(product, 0, rows / 2);
    multiply_matrices(product, rows / 2, rows);
    product.c = plain.data();
    reference::multiply_matrices(product, 0, rows);
    for (size_t i = 0; i < fast.size(); ++i) EXPECT_NEAR(fast[i], plain[i], 1e-4) << i;
  }
}

}  // namespace
}  // namespace hewn::kernels
