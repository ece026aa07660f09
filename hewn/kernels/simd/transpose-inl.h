// Eight samples by any number of features, turned round. Included once per instruction set by tile.cpp.

#if HEWN_SIMD_EIGHT
/// to[j][i] = from[i][j] for i, j in 0..7, in registers: pairs of floats, pairs of pairs, then halves.
HEWN_SIMD_ATTRIBUTE void transpose_eight(const float* from, int64_t from_stride, float* to,
                                         int64_t to_stride) {
  const hn::CappedTag<float, 8> d;
  const hn::Repartition<double, decltype(d)> dd;
  using V = hn::Vec<decltype(d)>;
  V row[8];
  for (int i = 0; i < 8; ++i) row[i] = hn::LoadU(d, from + i * from_stride);
  V pair[8];
  for (int i = 0; i < 8; i += 2) {
    pair[i] = hn::InterleaveLower(d, row[i], row[i + 1]);
    pair[i + 1] = hn::InterleaveUpper(d, row[i], row[i + 1]);
  }
  V four[8];
  for (int i = 0; i < 8; i += 4) {
    for (int j = 0; j < 2; ++j) {
      const auto a = hn::BitCast(dd, pair[i + j]);
      const auto b = hn::BitCast(dd, pair[i + j + 2]);
      four[i + 2 * j] = hn::BitCast(d, hn::InterleaveLower(dd, a, b));
      four[i + 2 * j + 1] = hn::BitCast(d, hn::InterleaveUpper(dd, a, b));
    }
  }
  for (int j = 0; j < 4; ++j) {
    hn::StoreU(hn::ConcatLowerLower(d, four[j + 4], four[j]), d, to + j * to_stride);
    hn::StoreU(hn::ConcatUpperUpper(d, four[j + 4], four[j]), d, to + (j + 4) * to_stride);
  }
}
#else
HEWN_SIMD_ATTRIBUTE void transpose_eight(const float* from, int64_t from_stride, float* to,
                                         int64_t to_stride) {
  for (int64_t j = 0; j < 8; ++j) {
    for (int64_t i = 0; i < 8; ++i) to[j * to_stride + i] = from[i * from_stride + j];
  }
}
#endif

HEWN_SIMD_ATTRIBUTE void transpose_rows(const float* from, int64_t from_stride, float* to, int64_t to_stride,
                                        int64_t features) {
  int64_t j = 0;
  for (; j + 8 <= features; j += 8) transpose_eight(from + j, from_stride, to + j * to_stride, to_stride);
  for (; j < features; ++j) {
    for (int64_t i = 0; i < 8; ++i) to[j * to_stride + i] = from[i * from_stride + j];
  }
}

/// The way back: eight columns of `features` rows become eight samples.
HEWN_SIMD_ATTRIBUTE void transpose_columns(const float* from, int64_t from_stride, float* to,
                                           int64_t to_stride, int64_t features) {
  int64_t j = 0;
  for (; j + 8 <= features; j += 8) transpose_eight(from + j * from_stride, from_stride, to + j, to_stride);
  for (; j < features; ++j) {
    for (int64_t i = 0; i < 8; ++i) to[i * to_stride + j] = from[j * from_stride + i];
  }
}
