// Bytes with NEON, which multiplies signed bytes by signed ones: those of the input are taken as 128 less.
#include "hewn/kernels/int8/byte_sets.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <cstring>

#include "hewn/kernels/int8/byte_one.h"

#define HEWN_BYTES_INLINE inline __attribute__((always_inline))
#define HEWN_BYTES_ATTRIBUTE
#define HEWN_BYTES_LAMBDA __attribute__((always_inline))

namespace hewn::kernels {
namespace {

struct Neon {
  using Words = uint8x16_t;
  using Sums = int32x4_t;
  using Floats = float32x4_t;
  static constexpr int64_t kLanes = 4;
  static constexpr int kRegisters = 16;  // of 32 for sums

  static HEWN_BYTES_INLINE Sums set(int32_t v) { return vdupq_n_s32(v); }
  static HEWN_BYTES_INLINE Floats set_floats(float v) { return vdupq_n_f32(v); }
  static HEWN_BYTES_INLINE Words load(const uint32_t* p) {
    return veorq_u8(load_weights(p), vdupq_n_u8(128));
  }
  static HEWN_BYTES_INLINE Words load_weights(const uint32_t* p) {
    return vreinterpretq_u8_u32(vld1q_u32(p));
  }
  static HEWN_BYTES_INLINE Sums load_sums(const uint32_t* p) { return vreinterpretq_s32_u32(vld1q_u32(p)); }
  static HEWN_BYTES_INLINE Floats load_floats(const float* p) { return vld1q_f32(p); }
  static HEWN_BYTES_INLINE Words spread_weight(uint32_t w) { return vreinterpretq_u8_u32(vdupq_n_u32(w)); }
  static HEWN_BYTES_INLINE Words spread(uint32_t x) { return spread_weight(x ^ 0x80808080U); }
  /// A pair is at most 2 * 128 * 127 in size, which fits 16 bits.
  static HEWN_BYTES_INLINE void dot(Words x, Words w, Sums& sum) {
    const int8x16_t bytes = vreinterpretq_s8_u8(x);
    const int8x16_t weights = vreinterpretq_s8_u8(w);
    const int16x8_t low = vmull_s8(vget_low_s8(bytes), vget_low_s8(weights));
    sum = vpadalq_s16(sum, vpaddq_s16(low, vmull_high_s8(bytes, weights)));
  }
  static HEWN_BYTES_INLINE Sums load_bytes(const uint8_t* p) {
    uint32_t word = 0;
    std::memcpy(&word, p, sizeof(word));
    const uint8x8_t bytes = vreinterpret_u8_u32(vdup_n_u32(word));
    return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(bytes))));
  }
  static HEWN_BYTES_INLINE void store_bytes(Sums v, uint8_t* p) {
    const uint16x4_t pairs = vqmovun_s32(v);
    const uint32_t word = vget_lane_u32(vreinterpret_u32_u8(vqmovn_u16(vcombine_u16(pairs, pairs))), 0);
    std::memcpy(p, &word, sizeof(word));
  }
  static HEWN_BYTES_INLINE Sums plus(Sums a, Sums b) { return vaddq_s32(a, b); }
  static HEWN_BYTES_INLINE Sums either(Sums a, Sums b) { return vorrq_s32(a, b); }
  static HEWN_BYTES_INLINE Sums byte(Sums v, int b) {
    return vandq_s32(vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(v), vdupq_n_s32(-8 * b))),
                     set(255));
  }
  static HEWN_BYTES_INLINE Sums put_byte(Sums v, int b) { return vshlq_s32(v, vdupq_n_s32(8 * b)); }
  static HEWN_BYTES_INLINE Floats to_floats(Sums v) { return vcvtq_f32_s32(v); }
  static HEWN_BYTES_INLINE Sums round(Floats v) { return vcvtnq_s32_f32(v); }
  static HEWN_BYTES_INLINE Floats multiply(Floats a, Floats b) { return vmulq_f32(a, b); }
  static HEWN_BYTES_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return vfmaq_f32(c, a, b); }
  static HEWN_BYTES_INLINE Floats max(Floats a, Floats b) { return vmaxnmq_f32(a, b); }
  static HEWN_BYTES_INLINE Floats min(Floats a, Floats b) { return vminnmq_f32(a, b); }
  static HEWN_BYTES_INLINE void store(Sums v, uint32_t* p) { vst1q_u32(p, vreinterpretq_u32_s32(v)); }
  static HEWN_BYTES_INLINE void store(Floats v, float* p) { vst1q_f32(p, v); }
};

#include "hewn/kernels/simd/byte_tile-inl.h"

}  // namespace

ByteMachine bytes_neon() {
  return {"NEON", false, 128, &byte_tile<Neon, Neon>, &byte_tile_of_one<Neon>, &rows_to_words<Neon>};
}

}  // namespace hewn::kernels
#endif
