// The inner loop of products of bytes, for a SIMD type. Included once per instruction set; Simd is a struct
// of static functions over Words (bytes as they are loaded), Sums and Floats, kLanes words wide.
//
// Columns are lanes: a word of the input is loaded for each column, and a word of weights is the same for all
// of them. For a single column outputs are lanes, and the word of the input is the same for all.

/// Sums as what is written, before it is a byte.
template <class Simd>
HEWN_BYTES_INLINE typename Simd::Floats scaled(typename Simd::Sums sum, typename Simd::Floats scale,
                                               typename Simd::Floats bias) {
  return Simd::multiply_add(Simd::to_floats(sum), scale, bias);
}

/// What is added, in the units of the output.
template <class Simd>
HEWN_BYTES_INLINE typename Simd::Floats added(const ByteTile& t, typename Simd::Sums bytes,
                                              typename Simd::Floats y) {
  const auto number = Simd::to_floats(Simd::plus(bytes, Simd::set(-t.add_zero)));
  return Simd::multiply_add(number, Simd::set_floats(t.add_scale), y);
}

/// Within the ends before it becomes an integer: no float is too large for that then.
template <class Simd>
HEWN_BYTES_INLINE typename Simd::Sums byte_of(const ByteTile& t, typename Simd::Floats y) {
  const auto least = Simd::set_floats(static_cast<float>(t.least - t.zero));
  const auto most = Simd::set_floats(static_cast<float>(255 - t.zero));
  return Simd::plus(Simd::round(Simd::min(Simd::max(y, least), most)), Simd::set(t.zero));
}

/// Four outputs of a vector of columns.
template <class Simd>
HEWN_BYTES_INLINE void finish_words(const ByteTile& t, const typename Simd::Sums (&sums)[4], int64_t j,
                                    int64_t column) {
  const int64_t at = j / 4 * t.out_stride + column;
  typename Simd::Sums word = Simd::set(0);
  typename Simd::Sums add = word;
  if (t.add != nullptr) add = Simd::load_sums(t.add + at);
#pragma GCC unroll 4
  for (int b = 0; b < 4; ++b) {
    auto y = scaled<Simd>(sums[b], Simd::set_floats(t.scale[j + b]), Simd::set_floats(t.bias[j + b]));
    if (t.add != nullptr) y = added<Simd>(t, Simd::byte(add, b), y);
    word = Simd::either(word, Simd::put_byte(byte_of<Simd>(t, y), b));
  }
  Simd::store(word, t.out + at);
}

template <class Simd>
HEWN_BYTES_INLINE void finish_floats(const ByteTile& t, typename Simd::Sums sum, int64_t j, int64_t column) {
  if (j >= t.out_rows) return;
  auto y = scaled<Simd>(sum, Simd::set_floats(t.scale[j]), Simd::set_floats(t.bias[j]));
  if (t.relu) y = Simd::max(y, Simd::set_floats(0));
  Simd::store(y, t.out_floats + j * t.out_stride + column);
}

template <class Simd, int kOutputs, int kVectors>
HEWN_BYTES_ATTRIBUTE void bytes_of(const ByteTile& t, int64_t column) {
  constexpr int64_t kLanes = Simd::kLanes;
  typename Simd::Sums sum[std::size_t{kVectors}][std::size_t{kOutputs}];
#pragma GCC unroll 8
  for (int j = 0; j < kOutputs; ++j) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sum[v][j] = Simd::set(t.start[j]);
  }
  const uint32_t* in = t.in + column;
  const uint32_t* weight = t.weight;
  for (int64_t i = 0; i < t.count; ++i, weight += kOutputs) {
    const uint32_t* row = in + t.offsets[i];
    typename Simd::Words x[std::size_t{kVectors}];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) x[v] = Simd::load(row + v * kLanes);
#pragma GCC unroll 8
    for (int j = 0; j < kOutputs; ++j) {
      const auto w = Simd::spread_weight(weight[j]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) Simd::dot(x[v], w, sum[v][j]);
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    const int64_t at = column + v * kLanes;
#pragma GCC unroll 8
    for (int j = 0; j < kOutputs; j += 4) {
      if (t.out != nullptr) {
        finish_words<Simd>(t, {sum[v][j], sum[v][j + 1], sum[v][j + 2], sum[v][j + 3]}, j, at);
        continue;
      }
#pragma GCC unroll 4
      for (int b = 0; b < 4; ++b) finish_floats<Simd>(t, sum[v][j + b], j + b, at);
    }
  }
}

/// As many vectors of columns at a time as registers hold; Half does what is left over.
template <class Simd, class Half, int kOutputs>
HEWN_BYTES_ATTRIBUTE void bytes_of_columns(const ByteTile& t) {
  constexpr int64_t kLanes = Simd::kLanes;
  constexpr int kMost = Simd::kRegisters / kOutputs;
  int64_t column = 0;
  for (; column + kMost * kLanes <= t.columns; column += kMost * kLanes) {
    bytes_of<Simd, kOutputs, kMost>(t, column);
  }
  if constexpr (kMost > 4) {
    for (; column + 4 * kLanes <= t.columns; column += 4 * kLanes) bytes_of<Simd, kOutputs, 4>(t, column);
  }
  if constexpr (kMost > 2) {
    for (; column + 2 * kLanes <= t.columns; column += 2 * kLanes) bytes_of<Simd, kOutputs, 2>(t, column);
  }
  if constexpr (kMost > 1) {
    for (; column + kLanes <= t.columns; column += kLanes) bytes_of<Simd, kOutputs, 1>(t, column);
  }
  if constexpr (Half::kLanes < kLanes) {
    for (; column + Half::kLanes <= t.columns; column += Half::kLanes) {
      bytes_of<Half, kOutputs, 1>(t, column);
    }
  }
}

template <class Simd, class Half>
HEWN_BYTES_ATTRIBUTE void byte_tile(const ByteTile& t) {
  if (t.outputs == 8) return bytes_of_columns<Simd, Half, 8>(t);
  bytes_of_columns<Simd, Half, 4>(t);
}

/// Outputs [j, j + kLanes) of a single column: their bytes, or floats, lie side by side.
template <class Simd>
HEWN_BYTES_INLINE void finish_one(const ByteTile& t, typename Simd::Sums sum, int64_t j) {
  constexpr int64_t kLanes = Simd::kLanes;
  auto y = scaled<Simd>(sum, Simd::load_floats(t.scale + j), Simd::load_floats(t.bias + j));
  if (t.out != nullptr) {
    if (t.add != nullptr) {
      y = added<Simd>(t, Simd::load_bytes(reinterpret_cast<const uint8_t*>(t.add) + j), y);
    }
    return Simd::store_bytes(byte_of<Simd>(t, y), reinterpret_cast<uint8_t*>(t.out) + j);
  }
  if (t.relu) y = Simd::max(y, Simd::set_floats(0));
  if (j + kLanes <= t.out_rows) return Simd::store(y, t.out_floats + j);
  float floats[std::size_t{kLanes}];
  Simd::store(y, floats);
  for (int64_t i = 0; j + i < t.out_rows && i < kLanes; ++i) t.out_floats[j + i] = floats[i];
}

/// Outputs of a single column, kVectors full vectors of them. Several sums run side by side, since each waits
/// for the one before it.
template <class Simd, int kVectors>
HEWN_BYTES_ATTRIBUTE void bytes_of_one(const ByteTile& t) {
  constexpr int64_t kLanes = Simd::kLanes;
  constexpr int kChains = 4;
  typename Simd::Sums sum[std::size_t{kChains}][std::size_t{kVectors}];
#pragma GCC unroll 8
  for (int c = 0; c < kChains; ++c) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sum[c][v] = Simd::set(0);
  }
  const uint32_t* weight = t.weight;
  const auto step = [&](int64_t i, int64_t c) HEWN_BYTES_LAMBDA {
    const auto x = Simd::spread(t.in[t.offsets[i]]);
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) {
      Simd::dot(x, Simd::load_weights(weight + (c * kVectors + v) * kLanes), sum[c][v]);
    }
  };
  int64_t i = 0;
  for (; i + kChains <= t.count; i += kChains, weight += kLanes * kChains * kVectors) {
#pragma GCC unroll 8
    for (int c = 0; c < kChains; ++c) step(i + c, c);
  }
  for (; i < t.count; ++i, weight += kVectors * kLanes) step(i, 0);
#pragma GCC unroll 8
  for (int64_t v = 0; v < kVectors; ++v) {
    const auto all = Simd::plus(Simd::plus(sum[0][v], sum[1][v]), Simd::plus(sum[2][v], sum[3][v]));
    const auto start = Simd::load_sums(reinterpret_cast<const uint32_t*>(t.start + v * kLanes));
    finish_one<Simd>(t, Simd::plus(all, start), v * kLanes);
  }
}

/// Four outputs where a vector has eight lanes: two inputs at a time.
template <class Simd>
HEWN_BYTES_ATTRIBUTE void four_of_one(const ByteTile& t) {
  auto even = Simd::set(0);
  auto odd = even;
  int64_t i = 0;
  const auto step = [&](int64_t at, typename Simd::Sums& sum) HEWN_BYTES_LAMBDA {
    const auto x = Simd::spread_two(t.in[t.offsets[at]], t.in[t.offsets[at + 1]]);
    Simd::dot(x, Simd::load_weights(t.weight + at * 4), sum);
  };
  for (; i + 4 <= t.count; i += 4) {
    step(i, even);
    step(i + 2, odd);
  }
  for (; i + 2 <= t.count; i += 2) step(i, even);
  int32_t lanes[8];
  Simd::store(Simd::plus(even, odd), reinterpret_cast<uint32_t*>(lanes));
  for (int j = 0; j < 4; ++j) {
    auto all = static_cast<uint32_t>(lanes[j]) + static_cast<uint32_t>(lanes[j + 4]);
    if (i < t.count) all += static_cast<uint32_t>(dot_of(t.in[t.offsets[i]], t.weight[i * 4 + j]));
    lanes[j] = static_cast<int32_t>(all + static_cast<uint32_t>(t.start[j]));
    lanes[j + 4] = 0;
  }
  ByteTile four = t;
  uint32_t words[2] = {};
  uint32_t adds[2] = {t.add == nullptr ? 0 : t.add[0], 0};
  if (t.out != nullptr) four.out = words;
  if (t.add != nullptr) four.add = adds;
  finish_one<Simd>(four, Simd::load_sums(reinterpret_cast<const uint32_t*>(lanes)), 0);
  if (t.out != nullptr) t.out[0] = words[0];
}

template <class Simd>
HEWN_BYTES_ATTRIBUTE void byte_tile_of_one(const ByteTile& t) {
  constexpr int kLanes = static_cast<int>(Simd::kLanes);
  if (t.outputs == 8) return bytes_of_one<Simd, 8 / kLanes>(t);
  if constexpr (kLanes == 4) {
    bytes_of_one<Simd, 1>(t);
  } else {
    four_of_one<Simd>(t);
  }
}

template <class Simd>
HEWN_BYTES_ATTRIBUTE void rows_to_words(const FourRows& rows, const ByteScale& bytes, uint32_t* words,
                                        int64_t count) {
  ByteTile ends;
  ends.zero = bytes.zero;
  const float inverse = 1.0F / bytes.scale;
  int64_t i = 0;
  for (; i + Simd::kLanes <= count; i += Simd::kLanes) {
    typename Simd::Sums word = Simd::set(0);
#pragma GCC unroll 4
    for (int b = 0; b < 4; ++b) {
      const float* row = rows[static_cast<size_t>(b)];
      auto byte = Simd::set(bytes.zero);
      if (row != nullptr) {
        byte = byte_of<Simd>(ends, Simd::multiply(Simd::load_floats(row + i), Simd::set_floats(inverse)));
      }
      word = Simd::either(word, Simd::put_byte(byte, b));
    }
    Simd::store(word, words + i);
  }
  for (; i < count; ++i) {
    uint32_t word = 0;
    for (size_t b = 0; b < 4; ++b) {
      const int32_t byte = rows[b] == nullptr ? bytes.zero : nearest_byte(rows[b][i], inverse, bytes.zero);
      word |= static_cast<uint32_t>(byte) << (8 * b);
    }
    words[i] = word;
  }
}
