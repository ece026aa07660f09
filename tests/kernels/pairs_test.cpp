// Products of bf16: every instruction set is within rounding of the formula, for all shapes of blocks.
#include "hewn/kernels/bf16/pairs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "hewn/kernels/bf16/pair_planes.h"
#include "hewn/kernels/reference/narrow/pair_planes.h"
#include "hewn/kernels/reference/narrow/pairs.h"

namespace hewn::kernels {
namespace {

class Noise {
 public:
  explicit Noise(uint32_t seed) : state_(seed * 2654435761U + 1) {}
  uint32_t bits() {
    state_ = state_ * 1664525U + 1013904223U;
    return state_ >> 8;
  }
  float number() { return static_cast<float>(bits()) / static_cast<float>(1U << 23) - 1; }
  uint32_t pair() { return nearest_bf16(number()) | nearest_bf16(number()) << 16; }

 private:
  uint32_t state_;
};

struct Case {
  int64_t channels, outputs, block, columns;
  int taps;
};
const std::vector<Case> kCases = {{1, 1, 1, 1, 1},     {3, 5, 4, 9, 9},      {16, 16, 16, 56, 9},
                                  {20, 24, 16, 33, 1}, {64, 40, 8, 300, 9},  {7, 64, 32, 129, 4},
                                  {32, 12, 4, 200, 1}, {128, 64, 16, 97, 9}, {5, 4, 2, 8, 2},
                                  {64, 72, 4, 1, 1},   {1030, 17, 16, 1, 1}, {96, 33, 32, 70, 1},
                                  {128, 20, 8, 1, 1},  {128, 33, 64, 15, 1}, {3, 64, 4, 230, 49}};

/// Weights of which `kept` of four blocks are not zero, as bf16.
std::vector<float> weights(const Case& c, int kept) {
  std::vector<float> out(static_cast<size_t>(c.outputs * c.taps * c.channels));
  Noise noise(7);
  for (int64_t j = 0; j < c.outputs; ++j) {
    for (int64_t i = 0; i < c.taps * c.channels; ++i) {
      const int64_t block = j / c.block * 31 + i / c.block;
      const float value = float_of(nearest_bf16(noise.number()));
      if (block * 7 % 4 < kept) out[static_cast<size_t>(j * c.taps * c.channels + i)] = value;
    }
  }
  return out;
}

/// A product with all that it points to.
struct Problem {
  Case c;
  MatrixWeight weight;
  int64_t lead = 32;
  int64_t stride;
  std::vector<uint32_t> in, add;
  std::vector<float> bias;
  std::vector<int32_t> offsets;
  PairProduct product;

  Problem(const Case& shape, int kept)
      : c(shape),
        weight(pair_weight(weights(shape, kept).data(), c.outputs, c.taps, c.channels)),
        stride(c.columns == 1 ? 1 : lead + c.columns + 56) {
    Noise noise(3);
    if (c.columns == 1) lead = 0;
    in.resize(static_cast<size_t>(pair_rows(c.channels) * stride + 64));
    for (uint32_t& pair : in) pair = noise.pair();
    add.resize(static_cast<size_t>((pair_rows(c.outputs) + 1) * stride + 64));
    for (uint32_t& pair : add) pair = noise.pair();
    // The second of the last pair is not there.
    for (size_t i = static_cast<size_t>(c.outputs / 2 * stride); c.outputs % 2 != 0 && i < add.size(); ++i) {
      add[i] &= 0xffffU;
    }
    bias.assign(static_cast<size_t>(c.outputs + 16), 0);
    for (int64_t j = 0; j < c.outputs; ++j) bias[static_cast<size_t>(j)] = noise.number();
    std::vector<int64_t> taps;
    for (int t = 0; t < c.taps; ++t) taps.push_back(c.columns == 1 ? 0 : t / 3 * 2 + t % 3 - 11);
    offsets = matrix_offsets(weight, taps, stride);
    product.weight = &weight;
    product.offsets = offsets.data();
    product.in = in.data() + lead;
    product.in_stride = stride;
    product.bias = bias.data();
    product.out_stride = stride;
  }

  /// In floats, or what bf16 make of them; what no one writes stays 9.
  std::vector<float> run(const PairMachine& machine, bool reference, bool pairs) {
    const auto size = static_cast<size_t>((c.outputs + 2) * stride + 64);
    std::vector<float> floats(size, 9.0F);
    std::vector<uint32_t> words(size, nearest_bf16(9) * 0x10001U);
    PairProduct here = product;
    here.machine = &machine;
    if (pairs) here.out = words.data() + lead;
    if (!pairs) here.out_floats = floats.data() + lead;
    const int64_t tiles = weight.tile_count();
    if (c.columns == 1) {
      reference ? reference::multiply_pairs_of_one(here, 0, tiles) : multiply_pairs_of_one(here, 0, tiles);
    } else if (reference) {
      reference::multiply_pairs(here, 0, c.columns, 0, tiles);
    } else {
      multiply_pairs(here, 0, c.columns, 0, tiles / 2);
      multiply_pairs(here, 0, c.columns, tiles / 2, tiles);
    }
    if (!pairs) return floats;
    std::vector<float> out(2 * size);
    for (size_t i = 0; i < size; ++i) {
      out[2 * i] = float_of(words[i] & 0xffffU);
      out[2 * i + 1] = float_of(words[i] >> 16);
    }
    return out;
  }
};

TEST(Pairs, ProductsAreWithinRoundingOfTheirFormulaOnEveryInstructionSet) {
  if (pair_machine_count() == 0) GTEST_SKIP() << "this processor has no products of bf16";
  for (int m = 0; m < pair_machine_count(); ++m) {
    for (const Case& c : kCases) {
      for (const int kept : {0, 1, 3, 4}) {
        for (const bool whole : {false, true}) {
          Problem problem(c, kept);
          problem.product.relu = whole;
          if (whole) problem.product.add = problem.add.data() + problem.lead;
          // As many roundings of sums as there are products, in whatever order.
          const double step = 1e-7 * static_cast<double>(c.taps * c.channels + 4);
          for (const bool pairs : {false, true}) {
            const std::vector<float> fast = problem.run(pair_machine_at(m), false, pairs);
            const std::vector<float> plain = problem.run(pair_machine_at(m), true, pairs);
            for (size_t i = 0; i < fast.size(); ++i) {
              const double near = pairs ? 0.0079 * std::abs(plain[i]) : 0.0;
              ASSERT_NEAR(fast[i], plain[i],
                          near + step * std::sqrt(static_cast<double>(c.taps * c.channels + 1)))
                  << pair_machine_at(m).name << " " << c.channels << " " << c.outputs << " " << i;
            }
          }
        }
      }
    }
  }
}

TEST(Pairs, ColumnsDoNotDependOnHowTheyAreShared) {
  for (int m = 0; m < pair_machine_count(); ++m) {
    Problem problem({64, 40, 16, 300, 9}, 2);
    PairProduct product = problem.product;
    product.machine = &pair_machine_at(m);
    std::vector<float> whole(static_cast<size_t>(42 * problem.stride), 0);
    std::vector<float> parts = whole;
    product.out_floats = whole.data() + problem.lead;
    multiply_pairs(product, 0, 300, 0, problem.weight.tile_count());
    product.out_floats = parts.data() + problem.lead;
    for (int64_t first = 0; first < 300; first += 37) {
      multiply_pairs(product, first, std::min<int64_t>(first + 37, 300), 0, problem.weight.tile_count());
    }
    EXPECT_EQ(whole, parts) << product.machine->name;
  }
}

TEST(Pairs, FloatsBecomeTheNearest) {
  Noise noise(5);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> row = {0.0F,       -0.0F,       kInfinity, -kInfinity, 3.4e38F,
                            -3.4e38F,   1e-40F,      0x1.01p0F, 0x1.03p0F,  0x1.018p0F,
                            0x1.008p0F, -0x1.008p0F, 1.0F,      -1e-45F,    0x1.fffp10F};
  for (int i = 0; i < 100; ++i) row.push_back(noise.number() * std::ldexp(1.0F, i - 50));
  std::vector<float> other(row.rbegin(), row.rend());
  for (const auto count : {int64_t{0}, int64_t{1}, int64_t{33}, static_cast<int64_t>(row.size())}) {
    for (const bool two : {true, false}) {
      std::vector<uint32_t> fast(row.size(), 9);
      std::vector<uint32_t> plain = fast;
      to_pairs({row.data(), two ? other.data() : nullptr}, fast.data(), count);
      reference::to_pairs({row.data(), two ? other.data() : nullptr}, plain.data(), count);
      EXPECT_EQ(fast, plain);
    }
  }
  EXPECT_TRUE(std::isnan(float_of(nearest_bf16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_EQ(nearest_bf16(0x1.018p0F), 0x3f81U);
}

TEST(Pairs, SamplesAndRowsMoveAsTheirTwinsDo) {
  Noise noise(6);
  for (const int64_t channels : {1, 2, 5, 31, 32, 33, 47, 64, 784}) {
    for (const int64_t count : {1, 15, 16, 33}) {
      std::vector<float> samples(static_cast<size_t>(channels * count));
      for (float& x : samples) x = noise.number();
      samples[0] = std::numeric_limits<float>::infinity();
      const int64_t stride = count + 3;
      std::vector<uint32_t> fast(static_cast<size_t>(pair_rows(channels) * stride), 9);
      std::vector<uint32_t> plain = fast;
      samples_to_pairs(samples.data(), channels, count, fast.data(), stride);
      reference::samples_to_pairs(samples.data(), channels, count, plain.data(), stride);
      ASSERT_EQ(fast, plain) << channels << " " << count;
    }
  }
  std::vector<uint32_t> a, b;
  for (int i = 0; i < 131; ++i) a.push_back(noise.pair());
  for (int i = 0; i < 131; ++i) b.push_back(noise.pair());
  std::vector<uint32_t> most(a.size());
  std::vector<uint32_t> most_plain(a.size());
  max_of_pairs(a.data(), b.data(), most.data(), 131);
  reference::max_of_pairs(a.data(), b.data(), most_plain.data(), 131);
  EXPECT_EQ(most, most_plain);
  std::array<double, 2> sums{1, 2};
  std::array<double, 2> sums_plain = sums;
  add_up_pairs(a.data(), 131, sums);
  reference::add_up_pairs(a.data(), 131, sums_plain);
  EXPECT_EQ(sums, sums_plain);
  for (const int64_t lane : {0, 1}) {
    std::vector<float> row(a.size());
    std::vector<float> row_plain(a.size());
    from_pairs(a.data(), lane, row.data(), 131);
    reference::from_pairs(a.data(), lane, row_plain.data(), 131);
    EXPECT_EQ(row, row_plain);
  }
}

}  // namespace
}  // namespace hewn::kernels
