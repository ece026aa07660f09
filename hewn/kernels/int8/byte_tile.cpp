#include "hewn/kernels/int8/byte_tile.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "hewn/kernels/int8/byte_one.h"
#include "hewn/kernels/int8/byte_sets.h"
#include "hewn/kernels/matrix/matrix_tile.h"

#define HEWN_BYTES_INLINE inline
#define HEWN_BYTES_ATTRIBUTE
#define HEWN_BYTES_LAMBDA

namespace hewn::kernels {
namespace {

/// Eight lanes that the compiler makes of them what it can.
template <class T>
struct Eight {
  T lane[8];
};

template <class Out, class Function>
inline Eight<Out> eight_of(const Function& function) {
  Eight<Out> out;
  for (int i = 0; i < 8; ++i) out.lane[i] = function(i);
  return out;
}

struct Plain {
  using Words = Eight<uint32_t>;
  using Sums = Eight<int32_t>;
  using Floats = Eight<float>;
  static constexpr int64_t kLanes = 8;
  static constexpr int kRegisters = 8;

  static Sums set(int32_t v) {
    return eight_of<int32_t>([=](int) { return v; });
  }
  static Floats set_floats(float v) {
    return eight_of<float>([=](int) { return v; });
  }
  static Words load(const uint32_t* p) {
    return eight_of<uint32_t>([=](int i) { return p[i]; });
  }
  static Words load_weights(const uint32_t* p) { return load(p); }
  static Sums load_sums(const uint32_t* p) {
    return eight_of<int32_t>([=](int i) { return static_cast<int32_t>(p[i]); });
  }
  static Floats load_floats(const float* p) {
    return eight_of<float>([=](int i) { return p[i]; });
  }
  static Words spread(uint32_t x) {
    return eight_of<uint32_t>([=](int) { return x; });
  }
  static Words spread_weight(uint32_t w) { return spread(w); }
  static Words spread_two(uint32_t x, uint32_t y) {
    return eight_of<uint32_t>([=](int i) { return i < 4 ? x : y; });
  }
  static void dot(const Words& x, const Words& w, Sums& sum) {
    for (int i = 0; i < 8; ++i) {
      sum.lane[i] = wrapped(sum.lane[i], dot_of(x.lane[i], w.lane[i]));
    }
  }
  static Sums load_bytes(const uint8_t* p) {
    return eight_of<int32_t>([=](int i) { return int32_t{p[i]}; });
  }
  static void store_bytes(const Sums& v, uint8_t* p) {
    for (int i = 0; i < 8; ++i) p[i] = static_cast<uint8_t>(v.lane[i]);
  }
  static Sums plus(const Sums& a, const Sums& b) {
    return eight_of<int32_t>([&](int i) { return wrapped(a.lane[i], b.lane[i]); });
  }
  static Sums either(const Sums& a, const Sums& b) {
    return eight_of<int32_t>([&](int i) { return a.lane[i] | b.lane[i]; });
  }
  static Sums byte(const Sums& v, int b) {
    return eight_of<int32_t>(
        [&](int i) { return static_cast<int32_t>(static_cast<uint32_t>(v.lane[i]) >> (8 * b) & 255U); });
  }
  static Sums put_byte(const Sums& v, int b) {
    return eight_of<int32_t>(
        [&](int i) { return static_cast<int32_t>(static_cast<uint32_t>(v.lane[i]) << (8 * b)); });
  }
  static Floats to_floats(const Sums& v) {
    return eight_of<float>([&](int i) { return static_cast<float>(v.lane[i]); });
  }
  static Sums round(const Floats& v) {
    return eight_of<int32_t>([&](int i) { return nearest_integer(v.lane[i]); });
  }
  static Floats multiply(const Floats& a, const Floats& b) {
    return eight_of<float>([&](int i) { return a.lane[i] * b.lane[i]; });
  }
  static Floats multiply_add(const Floats& a, const Floats& b, const Floats& c) {
    return eight_of<float>([&](int i) { return std::fma(a.lane[i], b.lane[i], c.lane[i]); });
  }
  static Floats max(const Floats& a, const Floats& b) {
    return eight_of<float>([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static Floats min(const Floats& a, const Floats& b) {
    return eight_of<float>([&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static void store(const Sums& v, uint32_t* p) { std::memcpy(p, v.lane, sizeof(v.lane)); }
  static void store(const Floats& v, float* p) { std::memcpy(p, v.lane, sizeof(v.lane)); }

 private:
  static int32_t wrapped(int32_t a, int32_t b) {
    return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
  }
};

#include "hewn/kernels/simd/byte_tile-inl.h"

/// All supported sets, the fastest first.
const std::vector<ByteMachine>& byte_machines() {
  static const std::vector<ByteMachine> all = [] {
    std::vector<ByteMachine> out;
#if defined(__x86_64__)
    if (has_bytes_avx512() && has_matrix_tiles()) out.push_back(bytes_amx());
    if (has_bytes_avx512()) out.push_back(bytes_avx512());
    if (has_bytes_avx2()) out.push_back(bytes_avx2());
#elif defined(__aarch64__)
    out.push_back(bytes_neon());
#endif
    out.push_back(bytes_portable());
    return out;
  }();
  return all;
}

}  // namespace

ByteMachine bytes_portable() {
  return {"portable", false, 0, &byte_tile<Plain, Plain>, &byte_tile_of_one<Plain>, &rows_to_words<Plain>};
}

const ByteMachine& byte_machine() { return byte_machines().front(); }
int byte_machine_count() { return static_cast<int>(byte_machines().size()); }
const ByteMachine& byte_machine_at(int index) { return byte_machines().at(static_cast<size_t>(index)); }

}  // namespace hewn::kernels
