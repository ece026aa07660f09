// The one inner loop of all block-sparse products, for a SIMD type. Included once per instruction set by
// tile.cpp; Simd is a struct of static functions over Vector (a full register) and Half (eight floats where a
// full register holds sixteen).
//
// The accumulators of a tile stay in registers over all kept blocks of its outputs. Weights are broadcast one
// by one, so any block size runs at full width. Loads of `in` are pinned in registers: g++ 12 otherwise folds
// them into every multiply-add and runs out of load slots (66 % instead of 95 % of peak at B = 4).

template <class Simd, bool kHalf>
HEWN_SIMD_ATTRIBUTE inline auto load_sums(const float* from) {
  if constexpr (kHalf) {
    return Simd::load_half(from);
  } else {
    return Simd::load(from);
  }
}

/// What happens to sums on their way out. A copy of what the arguments say: they might lie where sums are
/// written, as far as the compiler knows.
struct Finish {
  float* out;
  const float* add;   // what stands in `out`, or the arguments' add; null: nothing
  const float* more;  // the arguments' add where `add` is what stands in `out`
  int64_t stride;

  template <class Simd, bool kHalf, bool kAdd, bool kRelu, class Sums>
  HEWN_SIMD_ATTRIBUTE inline void run(Sums y, int64_t at) const {
    if constexpr (kAdd) {
      y = Simd::plus(y, load_sums<Simd, kHalf>(add + at));
      if (more != nullptr) y = Simd::plus(y, load_sums<Simd, kHalf>(more + at));
    }
    if constexpr (kRelu) y = Simd::relu(y);
    Simd::store(y, out + at);
  }
};

/// The sums of a tile, in registers. Those of a half vector are the lower half of a full one: instructions of
/// another width would want weights of their own, and took longer than a third full vector.
template <class Simd, int kOutputs, int kFull, bool kHalf>
struct TileSums {
  static constexpr int kVectors = kFull + (kHalf ? 1 : 0);
  typename Simd::Vector full[std::size_t{kOutputs}][std::size_t{kVectors}];

  /// Compiled for the target, as the vectors of NEON want it.
  HEWN_SIMD_ATTRIBUTE inline TileSums() {}  // NOLINT(modernize-use-equals-default)

  template <bool kAdd, bool kRelu>
  HEWN_SIMD_ATTRIBUTE inline void write(const Finish& last) const {
#pragma GCC unroll 8
    for (int j = 0; j < kOutputs; ++j) {
      const int64_t row = j * last.stride;
#pragma GCC unroll 8
      for (int v = 0; v < kFull; ++v)
        last.template run<Simd, false, kAdd, kRelu>(full[j][v], row + v * Simd::kLanes);
      if constexpr (kHalf)
        last.template run<Simd, true, kAdd, kRelu>(Simd::lower(full[j][kFull]), row + kFull * Simd::kLanes);
    }
  }
};

/// Rows that are asked for before they are needed, and weights: those of the next tiles lie behind a tile's
/// own, and would come from beyond the L2 cache one line after the other.
constexpr int32_t kAhead = 12;
constexpr int32_t kWeightsAhead = 1024;

template <class Simd, int kOutputs, int kFull, bool kHalf>
HEWN_SIMD_ATTRIBUTE void tile_of(const TileArguments& t) {
  constexpr int64_t kLanes = Simd::kLanes;
  constexpr int kVectors = kFull + (kHalf ? 1 : 0);
  TileSums<Simd, kOutputs, kFull, kHalf> sum;
#pragma GCC unroll 8
  for (int j = 0; j < kOutputs; ++j) {
    const float start = t.bias == nullptr ? 0.0F : t.bias[j];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sum.full[j][v] = Simd::set(start);
  }

  const float* weight = t.weight;
  const int64_t weight_stride = t.weight_stride;
  const int64_t in_stride = t.in_stride;
  const int64_t unit = t.run_unit == 0 ? in_stride : t.run_unit;
  for (const Run* run = t.runs; run != t.runs + t.run_count; ++run) {
    const float* in = t.in + run->row * unit;
    // What comes next: the same rows for the next columns; of a long run its own rows, else those of the next
    // one.
    const bool long_run = run->length > 2 * kAhead || run + 1 == t.runs + t.run_count;
    const float* next = t.rows_again ? in + t.columns
                        : long_run   ? in + kAhead * in_stride
                                     : t.in + run[1].row * unit;
    for (int32_t i = 0; i < run->length; ++i) {
      __builtin_prefetch(next);
      if constexpr (kFull * kLanes + (kHalf ? kColumnStep : 0) > 16) __builtin_prefetch(next + 16);
      if constexpr (kFull * kLanes + (kHalf ? kColumnStep : 0) > 32) __builtin_prefetch(next + 32);
      __builtin_prefetch(weight + kWeightsAhead, 0, 2);
      next += in_stride;
      typename Simd::Vector x[std::size_t{kVectors}];
#pragma GCC unroll 8
      for (int v = 0; v < kFull; ++v) x[v] = Simd::load(in + v * kLanes);
      if constexpr (kHalf) x[kFull] = Simd::load_lower(in + kFull * kLanes);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) Simd::pin(x[v]);
#pragma GCC unroll 8
      for (int j = 0; j < kOutputs; ++j) {
        const auto w = Simd::set(weight[j]);
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) Simd::multiply_add(x[v], w, sum.full[j][v]);
      }
      in += in_stride;
      weight += weight_stride;
    }
  }

  const float* add = t.accumulate ? t.out : t.add;
  const Finish last{t.out, add, t.accumulate ? t.add : nullptr, t.out_stride};
  if (!t.accumulate && add == nullptr)
    return t.relu ? sum.template write<false, true>(last) : sum.template write<false, false>(last);
  t.relu ? sum.template write<true, true>(last) : sum.template write<true, false>(last);
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
  if constexpr ((kFull + 1) * Simd::kLanes <= Simd::kStripWidth) {
    if (t.columns >= (kFull + 1) * Simd::kLanes) return tile_of_any<Simd, kFull + 1>(t);
  }
  if constexpr (kHasHalf && kFull * Simd::kLanes < Simd::kStripWidth) {
    if (t.columns > kFull * Simd::kLanes) return tile_of_width<Simd, kFull, true>(t);
  }
  if constexpr (kFull > 0) tile_of_width<Simd, kFull, false>(t);
}

/// One column: vectors run over the outputs instead, and over as many rows as fit beside each other. Reads
/// whole vectors of weights: what lies behind the last row is multiplied by zero.
template <class Simd>
HEWN_SIMD_ATTRIBUTE void full_tile_of_one(const TileArguments& t) {
  const float* weight = t.weight;
  constexpr int32_t kRows = static_cast<int32_t>(Simd::kLanes) / Simd::kTileOutputs;
  constexpr int kChains = 4;  // sums that do not wait for each other
  typename Simd::Vector sum[std::size_t{kChains}];
#pragma GCC unroll 8
  for (int chain = 0; chain < kChains; ++chain) sum[chain] = Simd::set(0.0F);
  const typename Simd::Spread spread;
  for (const Run* run = t.runs; run != t.runs + t.run_count; ++run) {
    const float* in = t.in + run->row;
    int32_t i = 0;
    for (; i + kChains * kRows <= run->length; i += kChains * kRows) {
      const auto x = spread.load(in + i);
#pragma GCC unroll 8
      for (int chain = 0; chain < kChains; ++chain) {
        Simd::multiply_add(spread.rows(x, chain), Simd::load(weight + int64_t{chain} * Simd::kLanes),
                           sum[chain]);
      }
      weight += kChains * Simd::kLanes;
    }
    for (; i + kRows <= run->length; i += kRows, weight += Simd::kLanes) {
      Simd::multiply_add(Simd::spread(in + i), Simd::load(weight), sum[0]);
    }
    if (i < run->length) {
      Simd::multiply_add(Simd::spread_one(in[i]), Simd::load(weight), sum[0]);
      weight += Simd::kTileOutputs;
    }
  }
  auto y = Simd::fold(Simd::plus(Simd::plus(sum[0], sum[1]), Simd::plus(sum[2], sum[3])));
  if (t.bias != nullptr) y = Simd::plus(y, Simd::load_folded(t.bias));
  if (t.accumulate) y = Simd::plus(y, Simd::load_folded(t.out));
  if (t.add != nullptr) y = Simd::plus(y, Simd::load_folded(t.add));
  if (t.relu) y = Simd::relu(y);
  Simd::store(y, t.out);
}

/// The same for tiles that are not full, at a ragged edge or in small blocks: one row at a time. Lanes behind
/// the tile's outputs hold the next row and are thrown away.
template <class Simd>
HEWN_SIMD_ATTRIBUTE void small_tile_of_one(const TileArguments& t) {
  const float* weight = t.weight;
  constexpr int kChains = 2;
  constexpr int kParts = Simd::kLanes >= kMaxOutputs ? 1 : static_cast<int>(kMaxOutputs / Simd::kLanes);
  typename Simd::Vector sum[std::size_t{kChains}][std::size_t{kParts}];
#pragma GCC unroll 8
  for (int chain = 0; chain < kChains; ++chain) {
#pragma GCC unroll 8
    for (int part = 0; part < kParts; ++part) sum[chain][part] = Simd::set(0.0F);
  }
  for (const Run* run = t.runs; run != t.runs + t.run_count; ++run) {
    const float* in = t.in + run->row;
    for (int32_t i = 0; i < run->length; i += kChains) {
#pragma GCC unroll 8
      for (int chain = 0; chain < kChains; ++chain) {
        if (i + chain >= run->length) break;
#pragma GCC unroll 8
        for (int part = 0; part < kParts; ++part) {
          Simd::multiply_add(Simd::set(in[i + chain]), Simd::load(weight + part * Simd::kLanes),
                             sum[chain][part]);
        }
        weight += t.outputs;
      }
    }
  }
  float result[std::size_t{kParts * Simd::kLanes}];
#pragma GCC unroll 8
  for (int part = 0; part < kParts; ++part) {
    Simd::store(Simd::plus(sum[0][part], sum[1][part]), result + part * Simd::kLanes);
  }
  for (int64_t j = 0; j < t.outputs; ++j) {
    float y = result[j] + (t.bias == nullptr ? 0.0F : t.bias[j]);
    if (t.accumulate) y += t.out[j];
    if (t.add != nullptr) y += t.add[j];
    t.out[j] = t.relu && y < 0 ? 0.0F : y;
  }
}

template <class Simd>
HEWN_SIMD_ATTRIBUTE void tile_of_one(const TileArguments& t) {
  const bool full = t.outputs == Simd::kTileOutputs;
  full ? full_tile_of_one<Simd>(t) : small_tile_of_one<Simd>(t);
}
