// Attention as frameworks spell it, against the graph evaluated node by node.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hewn/core/random.h"
#include "hewn/flow/composer.h"
#include "hewn/flow/evaluate.h"
#include "hewn/flow/network.h"
#include "tests/support/allocations.h"

namespace hewn::flow {
namespace {

using List = std::vector<int64_t>;

Tensor noise(Dims dims, uint64_t seed) {
  Tensor out(Spec{Type::kFloat, std::move(dims)});
  auto values = out.values<float>();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(2 * unit(draw(seed, Stream::kInit, 0, i)[0]) - 1);
  return out;
}

struct Size {
  int64_t samples, tokens, heads, features;
  int64_t width() const { return heads * features; }
};

enum class Spelling { kSequenceFirst, kBatchFirst, kGathered, kSplit };
enum class Mask { kNone, kCausal, kPadding, kWhere, kWhereNot };

/// The heads of q, k and v: samples x heads x tokens x features, or both first dimensions as one.
std::vector<int32_t> heads(Composer& c, int32_t projected, const Size& s, Spelling spelling) {
  const int64_t e = s.width();
  if (spelling == Spelling::kGathered) {
    const int32_t five =
        c.node("Reshape", "five", {projected, c.list({s.samples, s.tokens, 3, s.heads, s.features})});
    const int32_t first = c.node("Transpose", "first", {five}, {{"perm", List{2, 0, 3, 1, 4}}});
    std::vector<int32_t> out;
    for (int64_t i = 0; i < 3; ++i)
      out.push_back(c.node("Gather", "one", {first, c.index(i)}, {{"axis", int64_t{0}}}));
    return out;
  }
  std::vector<int32_t> parts;
  if (spelling == Spelling::kSplit) parts = c.split("parts", projected, 2, {e, e, e});
  for (int64_t i = 0; i < 3 && spelling != Spelling::kSplit; ++i)
    parts.push_back(
        c.node("Slice", "part", {projected, c.list({i * e}), c.list({(i + 1) * e}), c.list({2})}));
  std::vector<int32_t> out;
  for (const int32_t part : parts) {
    if (spelling == Spelling::kSequenceFirst) {
      const int32_t turned =
          c.node("Reshape", "r", {part, c.list({s.tokens, s.samples * s.heads, s.features})});
      out.push_back(c.node("Transpose", "t", {turned}, {{"perm", List{1, 0, 2}}}));
    } else {
      const int32_t four = c.node("Reshape", "r", {part, c.list({s.samples, s.tokens, s.heads, s.features})});
      out.push_back(c.node("Transpose", "t", {four}, {{"perm", List{0, 2, 1, 3}}}));
    }
  }
  return out;
}

int32_t masked(Composer& c, int32_t scores, const Size& s, Mask mask) {
  if (mask == Mask::kCausal || mask == Mask::kPadding) {
    const bool causal = mask == Mask::kCausal;
    Tensor add = causal ? noise({s.tokens, s.tokens}, 5) : noise({1, 1, s.tokens}, 6);
    for (int64_t i = 0; i < s.tokens && causal; ++i) {
      for (int64_t j = i + 1; j < s.tokens; ++j)
        add.values<float>()[static_cast<size_t>(i * s.tokens + j)] = -INFINITY;
    }
    return c.node("Add", "mask",
                  causal ? std::vector<int32_t>{scores, c.constant("m", add)}
                         : std::vector<int32_t>{c.constant("m", add), scores});
  }
  if (mask == Mask::kNone) return scores;
  Tensor keep(Spec{Type::kBool, {s.tokens, s.tokens}});
  for (int64_t i = 0; i < s.tokens; ++i) {
    for (int64_t j = 0; j < s.tokens; ++j)
      keep.values<bool>()[static_cast<size_t>(i * s.tokens + j)] = (j <= i) == (mask == Mask::kWhere);
  }
  const int32_t which = c.constant("keep", keep);
  const int32_t least = c.number(-1e9F);
  return mask == Mask::kWhere ? c.node("Where", "mask", {which, scores, least})
                              : c.node("Where", "mask", {which, least, scores});
}

/// samples x tokens x width in, the same out.
Graph attention_graph(const Size& s, Spelling spelling, Mask mask) {
  Composer c;
  const int64_t e = s.width();
  const bool sequence_first = spelling == Spelling::kSequenceFirst;
  const Spec spec{Type::kFloat, {s.samples, s.tokens, e}};
  int32_t x = c.input("x", spec);
  if (sequence_first) x = c.node("Transpose", "turn", {x}, {{"perm", List{1, 0, 2}}});
  int32_t projected = c.node("MatMul", "in", {x, c.constant("w", noise({e, 3 * e}, 1))});
  projected = c.node("Add", "bias", {c.constant("b", noise({3 * e}, 2)), projected});
  const std::vector<int32_t> qkv = heads(c, projected, s, spelling);
  List turn = sequence_first ? List{0, 2, 1} : List{0, 1, 3, 2};
  const float scale = 1 / std::sqrt(static_cast<float>(s.features));
  int32_t q = qkv[0];
  if (sequence_first) q = c.node("Mul", "scale", {q, c.number(scale)});
  const int32_t k = c.node("Transpose", "kt", {qkv[1]}, {{"perm", turn}});
  int32_t scores = c.node("MatMul", "qk", {q, k});
  if (!sequence_first) scores = c.node("Div", "scale", {scores, c.number(1 / scale)});
  scores = masked(c, scores, s, mask);
  const int32_t weights = c.node("Softmax", "softmax", {scores}, {{"axis", int64_t{-1}}});
  int32_t out = c.node("MatMul", "av", {weights, qkv[2]});
  out = c.node("Transpose", "back", {out}, {{"perm", sequence_first ? List{1, 0, 2} : List{0, 2, 1, 3}}});
  out = sequence_first ? c.node("Reshape", "flat", {out, c.list({s.tokens * s.samples, e})})
                       : c.node("Reshape", "flat", {out, c.list({s.samples, s.tokens, e})});
  out = c.node("MatMul", "out", {out, c.constant("wo", noise({e, e}, 3))});
  if (sequence_first) {
    out = c.node("Reshape", "three", {out, c.list({s.tokens, s.samples, e})});
    out = c.node("Transpose", "again", {out}, {{"perm", List{1, 0, 2}}});
  }
  return c.finish(c.node("Add", "sum", {out, 0}), "y", spec);
}

TEST(AttentionStep, EqualsWhatItIsMadeOf) {
  const std::vector<Size> sizes = {{1, 1, 1, 1},   {1, 1, 3, 4},  {2, 9, 1, 5},
                                   {3, 25, 2, 16}, {1, 50, 3, 8}, {2, 7, 4, 3}};
  for (const Size& size : sizes) {
    for (const Spelling spelling :
         {Spelling::kSequenceFirst, Spelling::kBatchFirst, Spelling::kGathered, Spelling::kSplit}) {
      for (const Mask mask : {Mask::kNone, Mask::kCausal, Mask::kPadding, Mask::kWhere, Mask::kWhereNot}) {
        SCOPED_TRACE(testing::Message()
                     << size.samples << " " << size.tokens << " " << size.heads << " " << size.features
                     << ", spelling " << static_cast<int>(spelling) << ", mask " << static_cast<int>(mask));
        const Graph graph = attention_graph(size, spelling, mask);
        const Tensor x = noise({size.samples, size.tokens, size.width()}, 9);
        const std::vector<Tensor> expected = evaluate(graph, {x});
        Network network(graph);
        const auto steps = network.profile({x});
        EXPECT_EQ(std::count_if(steps.begin(), steps.end(),
                                [](const StepTime& step) { return step.what.starts_with("Attention"); }),
                  1);
        const std::vector<Tensor> one = network.run({x});
        for (size_t i = 0; i < static_cast<size_t>(x.elements()); ++i)
          ASSERT_NEAR(one[0].values<float>()[i], expected[0].values<float>()[i],
                      2e-5F * static_cast<float>(size.width()))
              << i;
      }
    }
  }
}

TEST(AttentionStep, AllocatesNothingAndGivesTheSameBitsOnAnyNumberOfThreads) {
  const Size size{2, 130, 3, 16};
  for (const Spelling spelling : {Spelling::kSequenceFirst, Spelling::kBatchFirst}) {
    const Tensor x = noise({size.samples, size.tokens, size.width()}, 9);
    Network network(attention_graph(size, spelling, Mask::kCausal));
    const Tensor expected = network.run({x})[0];
    const std::vector<Tensor> inputs = {x};
    network.run_in_place(inputs);
    const int64_t before = support::allocations();
    network.run_in_place(inputs);
    EXPECT_EQ(support::allocations(), before);
    for (const int threads : {2, 3, 5}) {
      network.set_threads(threads);
      const Tensor got = network.run({x})[0];
      EXPECT_TRUE(std::equal(got.values<float>().begin(), got.values<float>().end(),
                             expected.values<float>().begin()))
          << threads;
    }
  }
}

/// Scores that someone else reads, or a softmax over the queries, stay what they are.
TEST(AttentionStep, IsOnlyWhatItLooksLike) {
  for (const bool read : {true, false}) {
    Composer c;
    const Spec spec{Type::kFloat, {2, 6, 6}};
    const int32_t x = c.input("x", spec);
    const int32_t k = c.node("Transpose", "t", {x}, {{"perm", List{0, 2, 1}}});
    const int32_t scores = c.node("MatMul", "qk", {x, k});
    const int32_t weights = c.node("Softmax", "softmax", {scores}, {{"axis", int64_t{read ? 2 : 1}}});
    int32_t out = c.node("MatMul", "av", {weights, x});
    if (read) out = c.node("Add", "sum", {out, scores});
    const Graph graph = c.finish(out, "y", spec);
    const Tensor input = noise({2, 6, 6}, 4);
    Network network(graph);
    const std::vector<Tensor> got = network.run({input});
    const std::vector<Tensor> expected = evaluate(graph, {input});
    for (size_t i = 0; i < 72; ++i)
      ASSERT_NEAR(got[0].values<float>()[i], expected[0].values<float>()[i], 1e-5F) << i;
    for (const StepTime& step : network.profile({input})) EXPECT_FALSE(step.what.starts_with("Attention"));
  }
}

}  // namespace
}  // namespace hewn::flow
