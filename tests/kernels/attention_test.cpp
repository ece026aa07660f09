#include "hewn/kernels/attention.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "hewn/core/random.h"
#include "hewn/kernels/reference/attention.h"

namespace hewn::kernels {
namespace {

std::vector<float> noise(int64_t count, uint64_t seed) {
  std::vector<float> out(static_cast<size_t>(count));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<float>(4 * unit(draw(seed, Stream::kInit, 0, i)[0]) - 2);
  return out;
}

/// How tokens lie: row by row, feature by feature, or apart in both ways.
template <class Float>
TokenView<Float> view(Float* data, int64_t tokens, int64_t features, int kind) {
  if (kind == 0) return {data, features, 1};
  if (kind == 1) return {data, 1, tokens + 3};
  return {data, 2, 2 * tokens + 1};
}

struct Shape {
  int64_t queries, keys, features, values;
};

/// A head with its memory.
struct Head {
  Shape shape;
  std::vector<float> q, k, v, masks, out;
  std::unique_ptr<bool[]> keep;
  std::vector<ScoreMask> steps;
  Attention attention;

  Head(const Shape& s, int kind, int mask) : shape(s) {
    const auto room = [](int64_t tokens, int64_t features) { return 2 * (tokens + 4) * (features + 1); };
    q = noise(room(s.queries, s.features), 1);
    k = noise(room(s.keys, s.features), 2);
    v = noise(room(s.keys, s.values), 3);
    out.assign(static_cast<size_t>(room(s.queries, s.values)), 7.0F);
    masks = noise(s.queries * s.keys, 4);
    keep = std::make_unique<bool[]>(static_cast<size_t>(s.queries * s.keys));
    for (int64_t i = 0; i < s.queries; ++i) {
      for (int64_t j = 0; j < s.keys; ++j) {
        const bool later = j > i;
        if (later && mask == 4)
          masks[static_cast<size_t>(i * s.keys + j)] = -std::numeric_limits<float>::infinity();
        keep[static_cast<size_t>(i * s.keys + j)] = !later;
      }
    }
    if (mask == 1) steps = {{.add = masks.data(), .query = 0, .key = 1}};
    if (mask == 2 || mask == 4) steps = {{.add = masks.data(), .query = s.keys, .key = 1}};
    if (mask == 3)
      steps = {{.add = masks.data(), .query = 1, .key = s.queries},
               {.keep = keep.get(), .query = s.keys, .key = 1, .kept = true, .instead = -1e9F}};
    if (mask == 5) steps = {{.keep = keep.get(), .query = 0, .key = 1, .kept = false, .instead = -3}};
    attention = {s.queries,
                 s.keys,
                 s.features,
                 s.values,
                 0.3F,
                 view<const float>(q.data(), s.queries, s.features, kind),
                 view<const float>(k.data(), s.keys, s.features, (kind + mask) % 3),
                 view<const float>(v.data(), s.keys, s.values, (kind + mask / 2) % 3),
                 view<float>(out.data(), s.queries, s.values, kind),
                 steps};
  }
};

TEST(Attention, EqualsItsFormulaOverAwkwardShapes) {
  const std::vector<Shape> shapes = {{1, 1, 1, 1},    {1, 7, 3, 5},     {5, 1, 8, 4},     {8, 8, 8, 8},
                                     {24, 24, 64, 9}, {25, 33, 17, 32}, {197, 50, 6, 11}, {3, 300, 64, 64}};
  for (const Shape& shape : shapes) {
    for (int kind = 0; kind < 3; ++kind) {
      for (int mask = 0; mask < 6; ++mask) {
        SCOPED_TRACE(testing::Message() << shape.queries << " " << shape.keys << " " << shape.features << " "
                                        << shape.values << ", laid " << kind << ", mask " << mask);
        Head fast(shape, kind, mask);
        Head slow(shape, kind, mask);
        attend(fast.attention, 0, shape.queries);
        reference::attend(slow.attention, 0, shape.queries);
        // What is not an output is left alone: both began with the same numbers.
        for (size_t i = 0; i < fast.out.size(); ++i) ASSERT_NEAR(fast.out[i], slow.out[i], 2e-5F) << i;
      }
    }
  }
}

TEST(Attention, GivesAQueryTheSameBitsWhateverIsComputedWithIt) {
  const Shape shape{61, 40, 24, 20};
  Head whole(shape, 1, 2);
  attend(whole.attention, 0, shape.queries);
  for (const int64_t piece : {1, 7, 24, 30}) {
    Head parts(shape, 1, 2);
    for (int64_t first = 0; first < shape.queries; first += piece)
      attend(parts.attention, first, std::min(shape.queries, first + piece));
    EXPECT_EQ(parts.out, whole.out) << piece;
  }
}

TEST(Attention, WithEveryKeyMaskedIsNoNumber) {
  Head head({3, 5, 4, 4}, 0, 2);
  for (float& x : head.masks) x = -std::numeric_limits<float>::infinity();
  attend(head.attention, 0, 3);
  EXPECT_TRUE(std::isnan(head.out[0]));
}

}  // namespace
}  // namespace hewn::kernels
