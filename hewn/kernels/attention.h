#pragma once

#include <cstdint>
#include <span>

namespace hewn::kernels {

/// Numbers of tokens, wherever they lie: those of token t begin at data + t * token, `feature` floats apart.
template <class Float>
struct TokenView {
  Float* data = nullptr;
  int64_t token = 0;
  int64_t feature = 0;
};

/// What happens to the score of query q and key k before the softmax: add[q * query + k * key] is added, or,
/// where `add` is null, the score becomes `instead` unless keep[q * query + k * key] is `kept`.
struct ScoreMask {
  const float* add = nullptr;
  const bool* keep = nullptr;
  int64_t query = 0;
  int64_t key = 0;
  bool kept = true;
  float instead = 0;
};

/// One head: out = softmax(scale q k', masked) v, the softmax over the keys.
struct Attention {
  int64_t queries = 0;
  int64_t keys = 0;      // at least one
  int64_t features = 0;  // of queries and keys
  int64_t values = 0;    // features of v and out
  float scale = 1;
  TokenView<const float> q;
  TokenView<const float> k;
  TokenView<const float> v;
  TokenView<float> out;
  std::span<const ScoreMask> masks;  // in this order
};

/// For the queries [first, last). What a query gets does not depend on which others are computed with it.
void attend(const Attention& attention, int64_t first, int64_t last);

}  // namespace hewn::kernels
