// Words from floats and back, and their sums: every instruction set does what the twins do.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "hewn/kernels/int8/byte_tile.h"
#include "hewn/kernels/int8/words.h"
#include "hewn/kernels/reference/narrow/words.h"

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

TEST(WordMoves, FloatsBecomeTheNearestBytes) {
  Noise noise(5);
  for (const int64_t count : {0, 1, 7, 8, 16, 33}) {
    std::vector<std::vector<float>> rows(4);
    for (auto& row : rows) {
      for (int64_t i = 0; i < count; ++i) row.push_back(300 * noise.number());
    }
    if (count > 6) {
      rows[0][0] = std::numeric_limits<float>::quiet_NaN();
      rows[0][1] = std::numeric_limits<float>::infinity();
      rows[0][2] = -std::numeric_limits<float>::infinity();
      rows[0][3] = 0.5F;
      rows[0][4] = 1.5F;
      rows[0][5] = -2.5F;
      rows[0][6] = 3e38F;
    }
    for (const bool whole : {true, false}) {
      const FourRows four = {rows[0].data(), rows[1].data(), rows[2].data(),
                             whole ? rows[3].data() : nullptr};
      for (const ByteScale& scale : {ByteScale{1, 0}, ByteScale{1, 128}, ByteScale{0.731F, 17}}) {
        std::vector<uint32_t> plain(static_cast<size_t>(count) + 1, 9);
        reference::to_words(four, scale, plain.data(), count);
        for (int m = 0; m < byte_machine_count(); ++m) {
          std::vector<uint32_t> fast(plain.size(), 9);
          byte_machine_at(m).to_words(four, scale, fast.data(), count);
          EXPECT_EQ(fast, plain) << byte_machine_at(m).name;
        }
        std::vector<uint32_t> fast(plain.size(), 9);
        to_words(four, scale, fast.data(), count);
        EXPECT_EQ(fast, plain);
      }
    }
  }
}

TEST(WordMoves, SamplesAndRowsMoveAsTheirTwinsDo) {
  Noise noise(6);
  for (const int64_t count : {1, 4, 5, 63, 64, 131}) {
    std::vector<float> sample;
    for (int64_t i = 0; i < count; ++i) sample.push_back(90 * noise.number());
    const ByteScale scale{0.5F, 100};
    std::vector<uint32_t> fast(static_cast<size_t>(word_rows(count) * 3), 9);
    std::vector<uint32_t> plain = fast;
    sample_to_words(sample.data(), count, scale, fast.data(), 3);
    reference::sample_to_words(sample.data(), count, scale, plain.data(), 3);
    EXPECT_EQ(fast, plain);

    for (const int64_t columns : {1, 7, 16, 35}) {
      std::vector<float> samples;
      for (int64_t i = 0; i < count * columns; ++i) samples.push_back(90 * noise.number());
      samples[0] = std::numeric_limits<float>::quiet_NaN();
      const int64_t stride = columns == 1 ? 1 : columns + 2;
      std::vector<uint32_t> many(static_cast<size_t>(word_rows(count) * stride), 9);
      std::vector<uint32_t> many_plain = many;
      samples_to_words(samples.data(), count, columns, scale, many.data(), stride);
      reference::samples_to_words(samples.data(), count, columns, scale, many_plain.data(), stride);
      ASSERT_EQ(many, many_plain) << count << " " << columns;
    }

    std::vector<uint32_t> a, b;
    for (int64_t i = 0; i < count; ++i) a.push_back(noise.word());
    for (int64_t i = 0; i < count; ++i) b.push_back(noise.word());
    std::vector<uint32_t> most(a.size());
    std::vector<uint32_t> most_plain(a.size());
    max_of_words(a.data(), b.data(), most.data(), count);
    reference::max_of_words(a.data(), b.data(), most_plain.data(), count);
    EXPECT_EQ(most, most_plain);
    std::array<int64_t, 4> sums{1, 2, 3, 4};
    std::array<int64_t, 4> sums_plain = sums;
    add_up_words(a.data(), count, sums);
    reference::add_up_words(a.data(), count, sums_plain);
    EXPECT_EQ(sums, sums_plain);
    std::vector<float> row(a.size());
    std::vector<float> row_plain(a.size());
    from_words(a.data(), 2, scale, row.data(), count);
    reference::from_words(a.data(), 2, scale, row_plain.data(), count);
    EXPECT_EQ(row, row_plain);
  }
}

TEST(WordMoves, LongRowsAddUpWithoutOverflow) {
  const std::vector<uint32_t> words(1000, word_of(255));
  std::array<int64_t, 4> sums{};
  add_up_words(words.data(), 1000, sums);
  EXPECT_EQ(sums, (std::array<int64_t, 4>{255000, 255000, 255000, 255000}));
}

}  // namespace
}  // namespace hewn::kernels
