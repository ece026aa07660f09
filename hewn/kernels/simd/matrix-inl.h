// Sums of a tile with AMX, for a kind of word. Included once per kind, between begin_target.h and
// end_target.h; Dot has the instruction: dot<C, A, B>().
//
// A row of words of the input is a row of the instruction's right side as it lies in memory, sixteen columns
// of it; weights are its left side. It takes sixteen cycles for sixteen outputs however few rows it has:
// 16 x 16 blocks fill a quarter of it with bytes and half of it with bf16. Bringing the rows of several kept
// blocks together first took longer than what it saved (590 against 730 products a nanosecond).

// The tile registers: four sums, both sides of a long step, both of a short one.
constexpr int kLongWeights = 4;
constexpr int kLongRows = 5;
constexpr int kShortWeights = 6;
constexpr int kShortRows = 7;

template <int kTile>
HEWN_BYTES_INLINE void load_tile(const void* from, int64_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(kTile) : "memory");
}
template <int kTile>
HEWN_BYTES_INLINE void store_tile(void* to, int64_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(kTile) : "memory");
}
template <int kTile>
HEWN_BYTES_INLINE void zero_tile() {
  asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
}

/// This thread's tile registers, for short steps of so many rows; free again at the end.
class TileRegisters {
 public:
  explicit TileRegisters(int64_t few) {
    // As LDTILECFG wants it: palette 1, bytes of a row and rows of each register.
    struct alignas(64) {
      uint8_t palette = 1;
      uint8_t zeros[15] = {};
      uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } shape;
    shape.row_bytes[kShortWeights] = static_cast<uint16_t>(4 * few);
    shape.rows[kShortRows] = static_cast<uint8_t>(few);
    asm volatile("ldtilecfg %0" : : "m"(shape));
  }
  ~TileRegisters() { asm volatile("tilerelease"); }
  TileRegisters(const TileRegisters&) = delete;
  TileRegisters& operator=(const TileRegisters&) = delete;
};

/// One step's products with kGroups x sixteen columns.
template <class Dot, int kGroups, int kWeights, int kInput>
HEWN_BYTES_INLINE void matrix_step(const uint32_t* weights, int64_t rows, const uint32_t* in,
                                   int64_t stride) {
  load_tile<kWeights>(weights, 4 * rows);
  load_tile<kInput>(in, 4 * stride);
  Dot::template dot<0, kWeights, kInput>();
  if constexpr (kGroups > 1) {
    load_tile<kInput>(in + kMatrixGroup, 4 * stride);
    Dot::template dot<1, kWeights, kInput>();
  }
  if constexpr (kGroups > 2) {
    load_tile<kInput>(in + 2 * kMatrixGroup, 4 * stride);
    Dot::template dot<2, kWeights, kInput>();
  }
  if constexpr (kGroups > 3) {
    load_tile<kInput>(in + 3 * kMatrixGroup, 4 * stride);
    Dot::template dot<3, kWeights, kInput>();
  }
}

/// Copies the rows of a loose step to where they lie side by side.
template <int kGroups>
HEWN_BYTES_ATTRIBUTE void bring_together(const MatrixTile& t, const MatrixWeight::Step& step, uint32_t* to) {
  for (int64_t r = 0; r < MatrixWeight::kRows; ++r, to += kMatrixColumns) {
    const int32_t offset = t.offsets[step.first + r];
    if (offset == MatrixWeight::kNoOffset) {
      for (int g = 0; g < kGroups; ++g) _mm512_store_si512(to + g * kMatrixGroup, _mm512_setzero_si512());
      continue;
    }
    const uint32_t* from = t.in + offset;
    for (int g = 0; g < kGroups; ++g) {
      _mm512_store_si512(to + g * kMatrixGroup, _mm512_loadu_si512(from + g * kMatrixGroup));
    }
  }
}

template <class Dot, int kGroups>
HEWN_BYTES_ATTRIBUTE void matrix_sums_of(const MatrixTile& t, void* sums) {
  zero_tile<0>();
  zero_tile<1>();
  zero_tile<2>();
  zero_tile<3>();
  const MatrixWeight::Step* step = t.weight->steps().data() + t.tile->first;
  for (int32_t i = 0; i < t.tile->direct; ++i, ++step) {
    const uint32_t* from = t.in + t.offsets[step->first];
    const uint32_t* weights = t.weight->weights(*step);
    if (step->rows == MatrixWeight::kRows) {
      matrix_step<Dot, kGroups, kLongWeights, kLongRows>(weights, MatrixWeight::kRows, from, t.stride);
    } else {
      matrix_step<Dot, kGroups, kShortWeights, kShortRows>(weights, step->rows, from, t.stride);
    }
  }
  // Several at a time: what was just stored is slow to load as a tile.
  constexpr int32_t kAtOnce = 4;
  constexpr int64_t kWords = MatrixWeight::kRows * kMatrixColumns;
  alignas(64) uint32_t together[std::size_t{kAtOnce} * kWords];
  for (int32_t i = 0; i < t.tile->loose; i += kAtOnce) {
    const int32_t here = t.tile->loose - i < kAtOnce ? t.tile->loose - i : kAtOnce;
    for (int32_t k = 0; k < here; ++k) bring_together<kGroups>(t, step[k], together + k * kWords);
    for (int32_t k = 0; k < here; ++k, ++step) {
      matrix_step<Dot, kGroups, kLongWeights, kLongRows>(t.weight->weights(*step), MatrixWeight::kRows,
                                                         together + k * kWords, kMatrixColumns);
    }
  }
  auto* to = static_cast<uint32_t*>(sums);
  constexpr int64_t kBytes = 4 * kMatrixColumns;
  store_tile<0>(to, kBytes);
  if constexpr (kGroups > 1) store_tile<1>(to + kMatrixGroup, kBytes);
  if constexpr (kGroups > 2) store_tile<2>(to + 2 * kMatrixGroup, kBytes);
  if constexpr (kGroups > 3) store_tile<3>(to + 3 * kMatrixGroup, kBytes);
}

/// kMatrixSums numbers of 32 bits at `sums`, which begins at a line of the cache.
template <class Dot>
HEWN_BYTES_ATTRIBUTE void matrix_sums(const MatrixTile& t, void* sums) {
  switch ((t.columns + kMatrixGroup - 1) / kMatrixGroup) {
    case 1:
      return matrix_sums_of<Dot, 1>(t, sums);
    case 2:
      return matrix_sums_of<Dot, 2>(t, sums);
    case 3:
      return matrix_sums_of<Dot, 3>(t, sums);
    default:
      return matrix_sums_of<Dot, 4>(t, sums);
  }
}
