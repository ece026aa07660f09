// Rows that lie far apart, brought side by side. Included once per instruction set by tile.cpp, with the Simd
// of tile-inl.h.

template <class Simd, int kFull, bool kHalf>
HEWN_SIMD_ATTRIBUTE void gather_of(const float* in, const int32_t* rows, int64_t count, float* panel) {
  constexpr int64_t kSoon = 8;  // rows that are asked for before they are needed
  for (int64_t i = 0; i < count; ++i, panel += Simd::kStripWidth) {
    const float* from = in + rows[i];
    const float* next = in + rows[i + kSoon < count ? i + kSoon : i];
    __builtin_prefetch(next);
    __builtin_prefetch(next + 16);
#pragma GCC unroll 8
    for (int v = 0; v < kFull; ++v)
      Simd::store(Simd::load(from + v * Simd::kLanes), panel + v * Simd::kLanes);
    if constexpr (kHalf)
      Simd::store(Simd::load_half(from + kFull * Simd::kLanes), panel + kFull * Simd::kLanes);
  }
}

/// Picks the loop for a width, as tile_of_any does.
template <class Simd, int kFull = 0>
HEWN_SIMD_ATTRIBUTE void gather_any(const float* in, const int32_t* rows, int64_t count, int64_t columns,
                                    float* panel) {
  constexpr bool kHasHalf = Simd::kLanes > kColumnStep;
  if constexpr ((kFull + 1) * Simd::kLanes <= Simd::kStripWidth) {
    if (columns >= (kFull + 1) * Simd::kLanes)
      return gather_any<Simd, kFull + 1>(in, rows, count, columns, panel);
  }
  if constexpr (kHasHalf && kFull * Simd::kLanes < Simd::kStripWidth) {
    if (columns > kFull * Simd::kLanes) return gather_of<Simd, kFull, true>(in, rows, count, panel);
  }
  if constexpr (kFull > 0) gather_of<Simd, kFull, false>(in, rows, count, panel);
}
