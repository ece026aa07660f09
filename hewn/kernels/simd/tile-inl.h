// The one inner loop of all block-sparse products, for a SIMD type. Included once per instruction set by
// tile.cpp; Simd is a struct of static functions over Vector (a full register) and Half (eight floats where a
// full register holds sixteen).
//
// The accumulators of a tile stay in registers over all kept blocks of its outputs. Weights are broadcast one
// by one, so any block size runs at full width. Loads of `in` are pinned in registers: g++ 12 otherwise folds
// them into every multiply-add and runs out of load slots (66 % instead of 95 % of peak at B = 4).

template <class Simd, int kOutputs, int kFull, bool kHalf>
HEWN_SIMD_ATTRIBUTE void tile_of(const TileArguments& t) {
  constexpr int64_t kLanes = Simd::kLanes;
  constexpr int kVectors = kFull > 0 ? kFull : 1;
  typename Simd::Vector sum[std::size_t{kOutputs}][std::size_t{kVectors}];
  typename Simd::Half half_sum[std::size_t{kOutputs}];
#pragma GCC unroll 8
  for (int j = 0; j < kOutputs; ++j) {
    const float start = t.bias == nullptr ? 0.0F : t.bias[j];
#pragma GCC unroll 8
    for (int v = 0; v < kFull; ++v) sum[j][v] = Simd::set(start);
    if constexpr (kHalf) half_sum[j] = Simd::set_half(start);
  }

  const float* weight = t.weight;
  const int64_t weight_stride = t.weight_stride;
  const int64_t in_stride = t.in_stride;
  for (const Run* run = t.runs; run != t.runs + t.run_count; ++run) {
    const float* in = t.in + run->row * in_stride;
    for (int32_t i = 0; i < run->length; ++i) {
      typename Simd::Vector x[std::size_t{kVectors}];
      typename Simd::Half half;
#pragma GCC unroll 8
      for (int v = 0; v < kFull; ++v) {
        x[v] = Simd::load(in + v * kLanes);
        Simd::pin(x[v]);
      }
      if constexpr (kHalf) {
        half = Simd::load_half(in + kFull * kLanes);
        Simd::pin(half);
      }
#pragma GCC unroll 8
      for (int j = 0; j < kOutputs; ++j) {
        const auto w = Simd::set(weight[j]);
#pragma GCC unroll 8
        for (int v = 0; v < kFull; ++v) Simd::multiply_add(x[v], w, sum[j][v]);
        if constexpr (kHalf) Simd::multiply_add(half, Simd::set_half(weight[j]), half_sum[j]);
      }
      in += in_stride;
      weight += weight_stride;
    }
  }

#pragma GCC unroll 8
  for (int j = 0; j < kOutputs; ++j) {
    float* out = t.out + j * t.out_stride;
    const float* add = t.add == nullptr ? nullptr : t.add + j * t.out_stride;
#pragma GCC unroll 8
    for (int v = 0; v < kFull; ++v) {
      auto y = sum[j][v];
      if (t.accumulate) y = Simd::plus(y, Simd::load(out + v * kLanes));
      if (add != nullptr) y = Simd::plus(y, Simd::load(add + v * kLanes));
      if (t.relu) y = Simd::relu(y);
      Simd::store(y, out + v * kLanes);
    }
    if constexpr (kHalf) {
      auto y = half_sum[j];
      if (t.accumulate) y = Simd::plus(y, Simd::load_half(out + kFull * kLanes));
      if (add != nullptr) y = Simd::plus(y, Simd::load_half(add + kFull * kLanes));
      if (t.relu) y = Simd::relu(y);
      Simd::store(y, out + kFull * kLanes);
    }
  }
}

/// Picks the loop for a number of outputs; those a target's tiles never have are not built.
template <class Simd, int kFull, bool kHalf, int kOutputs = 1>
HEWN_SIMD_ATTRIBUTE void tile_of_width(const TileArguments& t) {
  if constexpr (kOutputs < Simd::kTileOutputs) {
    if (t.outputs > kOutputs) return tile_of_width<Simd, kFull, kHalf, kOutputs + 1>(t);
  }
  tile_of<Simd, kOutputs, kFull, kHalf>(t);
}

/// Picks the loop for a width: whole registers, and a half one where sixteen lanes do not divide it.
template <class Simd, int kFull = 0>
HEWN_SIMD_ATTRIBUTE void tile_of_any(const TileArguments& t) {
  constexpr bool kHasHalf = Simd::kLanes > kColumnStep;
  if constexpr ((kFull + 1) * Simd::kLanes <= Simd::kPanelWidth) {
    if (t.columns >= (kFull + 1) * Simd::kLanes) return tile_of_any<Simd, kFull + 1>(t);
  }
  if constexpr (kHasHalf && kFull * Simd::kLanes < Simd::kPanelWidth) {
    if (t.columns > kFull * Simd::kLanes) return tile_of_width<Simd, kFull, true>(t);
  }
  if constexpr (kFull > 0) tile_of_width<Simd, kFull, false>(t);
}

/// One column: vectors run over the outputs instead. Reads eight weights a row, whatever the tile's outputs:
/// those behind them belong to the next row and are thrown away.
template <class Simd>
HEWN_SIMD_ATTRIBUTE void tile_of_one(const TileArguments& t) {
  constexpr int kParts = Simd::kLanes >= kMaxOutputs ? 1 : static_cast<int>(kMaxOutputs / Simd::kLanes);
  constexpr int kChains = 4;  // sums that do not wait for each other
  constexpr int64_t kPart = kMaxOutputs / kParts;
  typename Simd::Half sum[std::size_t{kChains}][std::size_t{kParts}];
#pragma GCC unroll 8
  for (int chain = 0; chain < kChains; ++chain) {
#pragma GCC unroll 8
    for (int part = 0; part < kParts; ++part) sum[chain][part] = Simd::set_half(0.0F);
  }
  const float* weight = t.weight;
  for (const Run* run = t.runs; run != t.runs + t.run_count; ++run) {
    const float* in = t.in + run->row * t.in_stride;
    int32_t i = 0;
    for (; i + kChains <= run->length; i += kChains) {
#pragma GCC unroll 8
      for (int chain = 0; chain < kChains; ++chain) {
        const auto x = Simd::set_half(in[(i + chain) * t.in_stride]);
#pragma GCC unroll 8
        for (int part = 0; part < kParts; ++part) {
          Simd::multiply_add(x, Simd::load_half(weight + chain * t.weight_stride + part * kPart),
                             sum[chain][part]);
        }
      }
      weight += kChains * t.weight_stride;
    }
    for (; i < run->length; ++i) {
      const auto x = Simd::set_half(in[i * t.in_stride]);
#pragma GCC unroll 8
      for (int part = 0; part < kParts; ++part) {
        Simd::multiply_add(x, Simd::load_half(weight + part * kPart), sum[0][part]);
      }
      weight += t.weight_stride;
    }
  }
  float result[std::size_t{kMaxOutputs}];
#pragma GCC unroll 8
  for (int part = 0; part < kParts; ++part) {
    Simd::store(Simd::plus(Simd::plus(sum[0][part], sum[1][part]), Simd::plus(sum[2][part], sum[3][part])),
                result + part * kPart);
  }
  for (int64_t j = 0; j < t.outputs; ++j) {
    float* out = t.out + j * t.out_stride;
    float y = result[j] + (t.bias == nullptr ? 0.0F : t.bias[j]);
    if (t.accumulate) y += *out;
    if (t.add != nullptr) y += t.add[j * t.out_stride];
    *out = t.relu && y < 0 ? 0.0F : y;
  }
}
