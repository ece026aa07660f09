#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "hewn/kernels/cuda/block_sparse/tiling.h"

namespace hewn::kernels::cuda::block_sparse {

/// Where sums go, and what is done to them first.
struct Target {
  void* y;
  const float* bias;
  const void* residual;
  unsigned samples, outputs;
  bool relu;
};

inline Target target_of(const Product& product, const Samples& samples) {
  return {samples.y,
          samples.bias,
          samples.residual,
          static_cast<unsigned>(samples.samples),
          static_cast<unsigned>(product.outputs()),
          samples.relu};
}

template <class T>
struct Pair;
template <>
struct Pair<__nv_bfloat16> {
  using Type = __nv_bfloat162;
  static __device__ Type of(float a, float b) { return __floats2bfloat162_rn(a, b); }
};
template <>
struct Pair<__half> {
  using Type = __half2;
  static __device__ Type of(float a, float b) { return __floats2half2_rn(a, b); }
};
template <>
struct Pair<float> {
  using Type = float2;
  static __device__ Type of(float a, float b) { return {a, b}; }
};

/// bias, residual and activation of two neighbouring outputs of a sample.
template <class T>
__device__ float2 finish(float a, float b, const Target& target, size_t row, unsigned col) {
  const bool second = col + 1 < target.outputs;
  if (target.bias != nullptr) {
    a += target.bias[col];
    if (second) b += target.bias[col + 1];
  }
  if (target.residual != nullptr) {
    const T* residual = static_cast<const T*>(target.residual) + row * target.outputs + col;
    a += static_cast<float>(residual[0]);
    if (second) b += static_cast<float>(residual[1]);
  }
  return target.relu ? float2{fmaxf(a, 0.0f), fmaxf(b, 0.0f)} : float2{a, b};
}

/// Turns a 4 x 4 matrix that lies over four neighbouring lanes: lane q gets element q of each.
__device__ inline void turn_quad(uint32_t (&v)[4]) {
  const bool odd = threadIdx.x & 1;
  const bool high = threadIdx.x & 2;
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const uint32_t got = __shfl_xor_sync(~0u, odd ? v[i] : v[i + 1], 1);
    (odd ? v[i] : v[i + 1]) = got;
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const uint32_t got = __shfl_xor_sync(~0u, high ? v[i] : v[i + 2], 2);
    (high ? v[i] : v[i + 2]) = got;
  }
}

// What a warp holds of 16 samples x kWide outputs, as the matrix instructions leave it: lane l has of samples
// l / 4 and l / 4 + 8 in every eight outputs the two from 2 (l % 4) on.

/// One sample's half of what a warp holds: 32 outputs from `col` on, of sums [4 g + half + {0, 1}].
template <class T>
__device__ void write_32(const float* sums, const Target& target, size_t row, unsigned col) {
  const unsigned q = threadIdx.x % 4;
  const bool inside = row < target.samples;
  T* y = static_cast<T*>(target.y) + row * target.outputs;
#pragma unroll
  for (int g = 0; g < 4; ++g) {
    const unsigned c = col + 8 * g + 2 * q;
    if (!inside || c >= target.outputs) continue;
    const float2 done = finish<T>(sums[4 * g], sums[4 * g + 1], target, row, c);
    const typename Pair<T>::Type pair = Pair<T>::of(done.x, done.y);
    if (target.outputs % 2 == 0) {
      *reinterpret_cast<typename Pair<T>::Type*>(y + c) = pair;
    } else {
      y[c] = pair.x;
      if (c + 1 < target.outputs) y[c + 1] = pair.y;
    }
  }
}

/// The samples from `row` on and the outputs from `col` on, for any number of outputs.
template <class T, int kWide>
__device__ void write_any(const float (&sums)[kWide / 2], const Target& target, size_t row, unsigned col) {
  const unsigned lane_row = threadIdx.x % 32 / 4;
#pragma unroll
  for (int g = 0; g < kWide / 32; ++g) {
    if (col + 32 * g >= target.outputs) return;
    write_32<T>(sums + 16 * g, target, row + lane_row, col + 32 * g);
    write_32<T>(sums + 16 * g + 2, target, row + lane_row + 8, col + 32 * g);
  }
}

/// Adds the residual of two samples to 64 outputs of them, or fewer: 16 bytes a load, and all loads before
/// the first sum.
template <class T, int kWide>
__device__ void add_residual(float* sums, const Target& target, const bool (&inside)[2], size_t at,
                             unsigned col) {
  constexpr int kLoads = kWide / 32;
  union Wide {
    uint4 whole;
    uint32_t bits[4];
    T values[16 / sizeof(T)];
  };
  const unsigned q = threadIdx.x % 4;
  const T* residual = static_cast<const T*>(target.residual) + at + col;
  Wide v[kLoads][2];
#pragma unroll
  for (int i = 0; i < 2 * kLoads; ++i) {
    const unsigned c = 32 * (i / 2) + 8 * q;
    const bool there = inside[i % 2] && col + c < target.outputs;
    const T* from = residual + size_t{8} * (i % 2) * target.outputs + c;
    v[i / 2][i % 2].whole = there ? *reinterpret_cast<const uint4*>(from) : uint4{};
  }
#pragma unroll
  for (int i = 0; i < 2 * kLoads; ++i) {
    Wide& own = v[i / 2][i % 2];
    turn_quad(own.bits);
    float* to = sums + 16 * (i / 2) + 2 * (i % 2);
#pragma unroll
    for (int e = 0; e < 8; ++e) to[4 * (e / 2) + e % 2] += static_cast<float>(own.values[e]);
  }
}

/// The same in single precision, whose pairs are wide enough.
template <int kWide>
__device__ void add_single_residual(float* sums, const Target& target, const bool (&inside)[2], size_t at,
                                    unsigned col) {
  const unsigned first = col + threadIdx.x % 4 * 2;
  const float* residual = static_cast<const float*>(target.residual) + at;
#pragma unroll
  for (int i = 0; i < kWide / 4; ++i) {
    const unsigned c = first + 8 * (i / 2);
    if (!inside[i % 2] || c >= target.outputs) continue;
    const float2 pair = *reinterpret_cast<const float2*>(residual + size_t{8} * (i % 2) * target.outputs + c);
    sums[2 * i] += pair.x;
    sums[2 * i + 1] += pair.y;
  }
}

/// Adds the bias to 8 outputs of two samples, and applies the activation.
__device__ inline void finish_8(float* sums, const Target& target, unsigned col) {
  if (target.bias != nullptr) {
    const float2 bias = *reinterpret_cast<const float2*>(target.bias + col);
    sums[0] += bias.x, sums[1] += bias.y, sums[2] += bias.x, sums[3] += bias.y;
  }
  if (target.relu) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[i] = fmaxf(sums[i], 0.0f);
  }
}

/// The same as write_any where the outputs are a multiple of 8, with the widest stores.
template <class T, int kWide>
__device__ void write_rows(float* sums, const Target& target, size_t row, unsigned col) {
  const unsigned q = threadIdx.x % 4;
  const size_t first = row + threadIdx.x % 32 / 4;
  const bool inside[2] = {first < target.samples, first + 8 < target.samples};
  const size_t at = first * target.outputs;
  T* y = static_cast<T*>(target.y) + at;
#pragma unroll
  for (int g = 0; g < kWide / 32; ++g) {
    const unsigned c = col + 32 * g;
    if (c >= target.outputs) return;
    float* own = sums + 16 * g;
    if (target.residual != nullptr) {
      if constexpr (sizeof(T) == 4) {
        add_single_residual<32>(own, target, inside, at, c);
      } else if (g % 2 == 0) {
        add_residual < T, kWide<64 ? 32 : 64>(own, target, inside, at, c);
      }
    }
    if (target.bias != nullptr || target.relu) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        if (c + 8 * e < target.outputs) finish_8(own + 4 * e, target, c + 8 * e + 2 * q);
      }
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      T* to = y + size_t{8} * h * target.outputs + c;
      if constexpr (sizeof(T) == 2) {
        union {
          typename Pair<T>::Type pairs[4];
          uint32_t bits[4];
        } v;
#pragma unroll
        for (int e = 0; e < 4; ++e) v.pairs[e] = Pair<T>::of(own[4 * e + 2 * h], own[4 * e + 2 * h + 1]);
        turn_quad(v.bits);
        if (inside[h] && c + 8 * q < target.outputs) {
          *reinterpret_cast<uint4*>(to + 8 * q) = {v.bits[0], v.bits[1], v.bits[2], v.bits[3]};
        }
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          if (inside[h] && c + 8 * e < target.outputs) {
            *reinterpret_cast<float2*>(to + 8 * e + 2 * q) = {own[4 * e + 2 * h], own[4 * e + 2 * h + 1]};
          }
        }
      }
    }
  }
}

/// Eight outputs of one sample; outputs are a multiple of 8.
template <class T>
__device__ void write_eight(float (&sums)[8], const Target& target, size_t row, unsigned col) {
  if (row >= target.samples || col >= target.outputs) return;
  const size_t at = row * target.outputs + col;
  union Eight {
    T values[8];
    uint4 wide[sizeof(T) / 2];
  } out;
  if (target.residual != nullptr) {
    const auto* residual = reinterpret_cast<const uint4*>(static_cast<const T*>(target.residual) + at);
#pragma unroll
    for (unsigned w = 0; w < sizeof(T) / 2; ++w) out.wide[w] = residual[w];
#pragma unroll
    for (int i = 0; i < 8; ++i) sums[i] += static_cast<float>(out.values[i]);
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (target.bias != nullptr) sums[i] += target.bias[col + i];
    if (target.relu) sums[i] = fmaxf(sums[i], 0.0f);
    out.values[i] = T(sums[i]);
  }
  auto* y = reinterpret_cast<uint4*>(static_cast<T*>(target.y) + at);
#pragma unroll
  for (unsigned w = 0; w < sizeof(T) / 2; ++w) y[w] = out.wide[w];
}

}  // namespace hewn::kernels::cuda::block_sparse
