// Products of bytes: every instruction set gives the bits of the formula.
#include "hewn/kernels/int8/words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "hewn/kernels/int8/byte_matrix.h"
#include "hewn/kernels/reference/narrow/byte_matrix.h"
#include "hewn/kernels/reference/narrow/byte_planes.h"

namespace hewn::kernels {
namespace {

class Noise {
 public:
  explicit Noise(uint32_t seed) : state_(seed * 2654435761U + 1) {}
  uint32_t bits() {
    state_ = state_ * 1664525U + 1013904223U;
    return state_ >> 8;
  }
  uint32_t word() { return bits() << 16 ^ bits(); }
  float number() { return static_cast<float>(bits()) / static_cast<float>(1U << 23) - 1; }

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
                                  {64, 72, 4, 1, 1},   {1030, 17, 16, 1, 1}, {256, 64, 32, 70, 1},
                                  {256, 20, 8, 1, 1},  {128, 33, 64, 15, 1}};

/// Weights of up to `most` in size, zero in all but `kept` of four blocks.
std::vector<int8_t> weights(const Case& c, int kept, int most) {
  std::vector<int8_t> out(static_cast<size_t>(c.outputs * c.taps * c.channels));
  Noise noise(7);
  for (int64_t j = 0; j < c.outputs; ++j) {
    for (int64_t i = 0; i < c.taps * c.channels; ++i) {
      const int64_t block = j / c.block * 31 + i / c.block;
      const int value = static_cast<int>(noise.bits() % static_cast<uint32_t>(2 * most + 1)) - most;
      if (block * 7 % 4 < kept)
        out[static_cast<size_t>(j * c.taps * c.channels + i)] = static_cast<int8_t>(value);
    }
  }
  return out;
}

/// A product with all that it points to.
struct Problem {
  Case c;
  int64_t lead = 32;
  int64_t stride;
  std::vector<uint32_t> in;
  std::vector<float> scale, bias;
  std::vector<uint32_t> add;
  std::vector<int64_t> taps;
  std::vector<int32_t> offsets, spots, start;

  explicit Problem(const Case& shape) : c(shape), stride(c.columns == 1 ? 1 : lead + c.columns + 56) {
    Noise noise(3);
    if (c.columns == 1) lead = 0;
    in.resize(static_cast<size_t>(word_rows(c.channels) * stride + 64));
    for (uint32_t& word : in) word = noise.word();
    const auto outputs = static_cast<size_t>(c.outputs + 16);
    for (size_t j = 0; j < outputs; ++j) {
      scale.push_back(0.0005F * (1.5F + noise.number()));
      bias.push_back(40 * noise.number());
    }
    add.resize(static_cast<size_t>((word_rows(c.outputs) + 1) * stride + 64));
    for (uint32_t& word : add) word = noise.word();
    for (int t = 0; t < c.taps; ++t) taps.push_back(c.columns == 1 ? 0 : t / 3 * 10 + t % 3 - 11);
  }

  ByteProduct product(const ByteWeight& weight, const ByteMachine& machine, int32_t in_zero) {
    offsets = word_offsets(weight, taps, stride);
    if (weight.matrix() != nullptr) spots = matrix_offsets(*weight.matrix(), taps, stride);
    start = starts_of(weight, in_zero, machine);
    ByteProduct out;
    out.weight = &weight;
    out.offsets = offsets.data();
    out.matrix_offsets = spots.data();
    out.in_stride = stride;
    out.machine = &machine;
    out.in = in.data() + lead;
    out.in_zero = in_zero;
    out.start = start.data();
    out.scale = scale.data();
    out.bias = bias.data();
    out.out_stride = stride;
    return out;
  }
};

void run_matrix(const ByteProduct& product, int64_t columns, bool reference) {
  const int64_t tiles = product.weight->matrix()->tile_count();
  if (columns == 1 && reference) return reference::multiply_matrix_words_of_one(product, 0, tiles);
  if (columns == 1) return multiply_matrix_words_of_one(product, 0, tiles);
  if (reference) return reference::multiply_matrix_words(product, 0, columns, 0, tiles);
  multiply_matrix_words(product, 0, columns, 0, tiles / 2);
  multiply_matrix_words(product, 0, columns, tiles / 2, tiles);
}

void run(const ByteProduct& product, int64_t columns, bool reference) {
  if (product.weight->matrix() != nullptr) return run_matrix(product, columns, reference);
  const int64_t tiles = product.weight->tile_count();
  if (columns == 1 && reference) return reference::multiply_words_of_one(product, 0, tiles);
  if (columns == 1) return multiply_words_of_one(product, 0, tiles);
  if (reference) return reference::multiply_words(product, 0, columns, 0, tiles);
  multiply_words(product, 0, columns, 0, tiles / 2);
  multiply_words(product, 0, columns, tiles / 2, tiles);
}

void expect_words(Problem& problem, ByteProduct product, bool whole) {
  const Case& c = problem.c;
  const auto size = static_cast<size_t>((word_rows(c.outputs) + 1) * problem.stride + 64);
  std::vector<uint32_t> fast(size, 9);
  std::vector<uint32_t> plain(size, 9);
  product.relu = whole;
  product.zero = whole ? 3 : 131;
  if (whole) product.add = problem.add.data() + problem.lead;
  product.add_scale = 0.37F;
  product.add_zero = 120;
  product.out = fast.data() + problem.lead;
  run(product, c.columns, false);
  product.out = plain.data() + problem.lead;
  run(product, c.columns, true);
  for (int64_t j = 0; j < word_rows(c.outputs); ++j) {
    for (int64_t p = 0; p < c.columns; ++p) {
      const auto at = static_cast<size_t>(j * problem.stride + problem.lead + p);
      ASSERT_EQ(fast[at], plain[at]) << product.machine->name << " " << j << " " << p;
    }
  }
}

void expect_floats(Problem& problem, ByteProduct product, bool relu) {
  const Case& c = problem.c;
  const auto size = static_cast<size_t>((c.outputs + 8) * problem.stride + 64);
  std::vector<float> fast(size, 9.0F);
  std::vector<float> plain(size, 9.0F);
  product.relu = relu;
  product.out_floats = fast.data() + problem.lead;
  run(product, c.columns, false);
  product.out_floats = plain.data() + problem.lead;
  run(product, c.columns, true);
  for (int64_t j = 0; j < c.outputs; ++j) {
    for (int64_t p = 0; p < c.columns; ++p) {
      const auto at = static_cast<size_t>(j * problem.stride + problem.lead + p);
      ASSERT_EQ(fast[at], plain[at]) << product.machine->name << " " << j << " " << p;
    }
  }
}

void expect_formula(const Case& c, const ByteMachine& machine, const ByteWeight& weight) {
  Problem problem(c);
  for (const int32_t zero : {0, 128}) {
    const ByteProduct product = problem.product(weight, machine, zero);
    expect_words(problem, product, false);
    expect_words(problem, product, true);
    expect_floats(problem, product, zero == 0);
  }
}

TEST(Words, ProductsHaveTheBitsOfTheirFormulaOnEveryInstructionSet) {
  for (int m = 0; m < byte_machine_count(); ++m) {
    const ByteMachine& machine = byte_machine_at(m);
    for (const Case& c : kCases) {
      for (const int kept : {0, 1, 3, 4}) {
        const std::vector<int8_t> values = weights(c, kept, 127);
        const ByteMatrix matrix{values.data(), c.outputs, c.taps, c.channels};
        expect_formula(c, machine, ByteWeight(matrix, machine.split));
        const bool has = c.columns == 1 ? machine.matrix_of_one != nullptr : machine.matrix != nullptr;
        if (has) expect_formula(c, machine, ByteWeight(matrix, machine.split, true));
      }
    }
  }
}

TEST(Words, ExtremesFitSums) {
  // The largest bytes and weights, as many as a sum may have.
  const Case c{kMostByteRows, 4, 4, 8, 1};
  std::vector<int8_t> values(static_cast<size_t>(c.outputs * c.channels), 127);
  for (size_t i = values.size() / 2; i < values.size(); ++i) values[i] = -127;
  for (int m = 0; m < byte_machine_count(); ++m) {
    const ByteMachine& machine = byte_machine_at(m);
    const ByteWeight weight({values.data(), c.outputs, 1, c.channels}, machine.split);
    Problem problem(c);
    std::fill(problem.in.begin(), problem.in.end(), word_of(255));
    expect_floats(problem, problem.product(weight, machine, 0), false);
    expect_floats(problem, problem.product(weight, machine, 255), false);
    if (machine.matrix == nullptr) continue;
    const ByteWeight wide({values.data(), c.outputs, 1, c.channels}, machine.split, true);
    expect_floats(problem, problem.product(wide, machine, 255), false);
  }
}

TEST(Words, WeightsLeaveOutWhatIsZero) {
  const Case c{64, 64, 16, 8, 1};
  const std::vector<int8_t> values = weights(c, 1, 60);
  const ByteWeight weight({values.data(), c.outputs, 1, c.channels}, false);
  const auto zeros = std::count(values.begin(), values.end(), 0);
  EXPECT_LT(weight.products(), static_cast<int64_t>(values.size()) / 3);
  EXPECT_GE(weight.products(), static_cast<int64_t>(values.size()) - zeros);
  EXPECT_TRUE(weight.tiles()[1].same_inputs);
  const ByteWeight wide({values.data(), c.outputs, 1, c.channels}, false, true);
  EXPECT_EQ(4 * wide.matrix()->words(), weight.products());
  EXPECT_EQ(wide.matrix()->few(), 4);
}

}  // namespace
}  // namespace hewn::kernels
