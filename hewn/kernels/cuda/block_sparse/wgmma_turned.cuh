#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace hewn::kernels::cuda::block_sparse {

#define HEWN_WGMMA_TURNED(type)                                                                             \
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type                                  \
               " "                                                                                          \
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                    \
               "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "          \
               "%32, %33, 1, 1, 1, 1, 1;"                                                                   \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),        \
                 "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),    \
                 "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), \
                 "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), \
                 "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])                                         \
               : "l"(a), "l"(b))

/// d += a' b for 16 samples, which lie below each other in both: 64 outputs x 64 inputs.
__device__ inline void multiply_turned(__nv_bfloat16, float (&d)[32], uint64_t a, uint64_t b) {
  HEWN_WGMMA_TURNED("bf16");
}
__device__ inline void multiply_turned(__half, float (&d)[32], uint64_t a, uint64_t b) {
  HEWN_WGMMA_TURNED("f16");
}
#undef HEWN_WGMMA_TURNED

}  // namespace hewn::kernels::cuda::block_sparse
