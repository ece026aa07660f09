#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

/// Matrix instructions of a single warp, as every GPU from Ampere on has them.
namespace hewn::kernels::cuda::block_sparse {

/// Four matrices of eight rows x 16 bytes; lane l has the address of row l % 8 of matrix l / 8.
__device__ inline void load_matrices(uint32_t (&to)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address));
}

#define HEWN_MMA(shape, types)                                          \
  asm("mma.sync.aligned." shape ".row.col.f32." types                   \
      ".f32 "                                                           \
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                  \
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1))
/// d += a b for 16 rows x 8 columns and one slice.
__device__ inline void multiply_slice(__nv_bfloat16, float* d, const uint4& a, uint32_t b0, uint32_t b1) {
  HEWN_MMA("m16n8k16", "bf16.bf16");
}
__device__ inline void multiply_slice(__half, float* d, const uint4& a, uint32_t b0, uint32_t b1) {
  HEWN_MMA("m16n8k16", "f16.f16");
}
__device__ inline void multiply_slice(float, float* d, const uint4& a, uint32_t b0, uint32_t b1) {
  HEWN_MMA("m16n8k8", "tf32.tf32");
}
#undef HEWN_MMA

}  // namespace hewn::kernels::cuda::block_sparse
