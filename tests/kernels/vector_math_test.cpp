#include "hewn/kernels/vector_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "hewn/core/random.h"
#include "hewn/kernels/reference/vector_math.h"

namespace hewn::kernels {
namespace {

std::vector<float> numbers(int64_t count, float low, float high) {
  std::vector<float> out(static_cast<size_t>(count));
  for (size_t i = 0; i < out.size(); ++i) {
    const auto mixed = static_cast<uint32_t>(i * 2654435761U + 12345U);
    out[i] = low + (high - low) * static_cast<float>(mixed % 65521U) / 65520.0F;
  }
  return out;
}

void expect_near(const std::vector<float>& a, const std::vector<float>& b, float tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i]))) << i;
  }
}

TEST(VectorMath, FunctionsEqualTheirFormulas) {
  for (const int64_t count : {0, 1, 7, 16, 33, 4001}) {
    for (int f = 0; f <= static_cast<int>(Function::kSqrt); ++f) {
      const auto function = static_cast<Function>(f);
      const bool root = function == Function::kSqrt;
      const auto in = numbers(count, root ? 0.0F : -12.0F, 12.0F);
      std::vector<float> fast(in.size());
      std::vector<float> plain(in.size());
      apply(function, -0.5F, 3.0F, in.data(), fast.data(), count);
      reference::apply(function, -0.5F, 3.0F, in.data(), plain.data(), count);
      SCOPED_TRACE(f);
      expect_near(fast, plain, 2e-6F);
    }
  }
}

TEST(VectorMath, FarFromZeroNothingOverflows) {
  const std::vector<float> in = {-1e4F, -100, -88, 88, 100, 1e4F};
  for (const Function function : {Function::kSigmoid, Function::kTanh, Function::kErf, Function::kGelu,
                                  Function::kGeluTanh, Function::kSilu, Function::kHardSwish}) {
    std::vector<float> fast(in.size());
    std::vector<float> plain(in.size());
    apply(function, 0, 0, in.data(), fast.data(), static_cast<int64_t>(in.size()));
    reference::apply(function, 0, 0, in.data(), plain.data(), static_cast<int64_t>(in.size()));
    SCOPED_TRACE(static_cast<int>(function));
    expect_near(fast, plain, 2e-6F);
  }
}

TEST(VectorMath, PairsEqualTheirFormulas) {
  for (const int64_t count : {0, 1, 15, 64, 1001}) {
    const auto x = numbers(count + 1, -3, 3);
    const auto y = numbers(count + 1, 0.5F, 4);
    for (int p = 0; p <= static_cast<int>(Pair::kMin); ++p) {
      for (const auto& [x_step, y_step] : {std::pair{1, 1}, {0, 1}, {1, 0}, {0, 0}}) {
        std::vector<float> fast(static_cast<size_t>(count));
        std::vector<float> plain(fast.size());
        combine(static_cast<Pair>(p), x.data(), x_step, y.data(), y_step, fast.data(), count);
        reference::combine(static_cast<Pair>(p), x.data(), x_step, y.data(), y_step, plain.data(), count);
        expect_near(fast, plain, 1e-6F);
      }
    }
  }
}

TEST(VectorMath, SoftmaxAndSum) {
  for (const int64_t count : {0, 1, 5, 16, 197, 1000}) {
    const auto in = numbers(count, -30, 30);
    std::vector<float> fast(in.size());
    std::vector<float> plain(in.size());
    softmax(in.data(), fast.data(), count);
    reference::softmax(in.data(), plain.data(), count);
    expect_near(fast, plain, 1e-6F);
    EXPECT_NEAR(sum(in.data(), count), reference::sum(in.data(), count), 1e-3);
  }
}

TEST(VectorMath, ColumnsAreNormalised) {
  for (const int64_t columns : {1, 7, 16, 37}) {
    for (const int64_t rows : {1, 3, 256}) {
      const int64_t stride = columns + 3;
      const auto in = numbers(rows * stride, -2, 5);
      const auto scale = numbers(rows, 0.5F, 2);
      const auto shift = numbers(rows, -1, 1);
      for (const bool shifted : {false, true}) {
        const ColumnNorm norm{rows, stride, scale.data(), shifted ? shift.data() : nullptr, 1e-5F};
        std::vector<float> fast(in.size());
        std::vector<float> plain(in.size());
        normalise_columns(norm, in.data(), fast.data(), columns);
        reference::normalise_columns(norm, in.data(), plain.data(), columns);
        expect_near(fast, plain, 1e-4F);
      }
    }
  }
}

}  // namespace
}  // namespace hewn::kernels
