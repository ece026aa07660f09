#pragma once

#include <cuda.h>

#include <cstdint>

/// What Hopper has beyond earlier GPUs, one instruction each.
namespace hewn::kernels::cuda::block_sparse {

__device__ inline uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ inline void init_barrier(uint32_t barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
__device__ inline void arrive_expecting(uint32_t barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ inline void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// Arrives at the same barrier of thread block `rank` of the cluster. What is released there are reads that
/// have ended, so that no fence over the cluster is wanted: one would wait for this thread's stores.
__device__ inline void arrive_at(uint32_t barrier, unsigned rank) {
  asm volatile(
      "{\n.reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}
/// Waits for the phase of that parity. Gives up with a fault after seconds: a hung GPU tells nobody why.
__device__ inline void wait(uint32_t barrier, unsigned parity) {
  for (unsigned tries = 0; tries < (1u << 24); ++tries) {
    unsigned done;
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
    if (done != 0) return;
  }
  __trap();
}

/// Copies a box of a tensor to the same address of every thread block in `ranks`.
template <bool kMulticast>
__device__ void load_box(uint32_t to, const CUtensorMap* map, int x, int y, uint32_t barrier,
                         uint16_t ranks) {
  if constexpr (kMulticast) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
        "l"(map), "r"(barrier), "r"(x), "r"(y), "h"(ranks)
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4}], [%2];" ::"r"(to),
        "l"(map), "r"(barrier), "r"(x), "r"(y)
        : "memory");
  }
}

struct Pixel {
  int channel, x, y, image;
};
struct Offset {
  uint16_t x, y;
};
/// Copies some channels of the pixels that lie at `offset` from those which a convolution's first tap meets
/// from `pixel` on.
__device__ inline void load_window(uint32_t to, const CUtensorMap* map, Pixel pixel, Offset offset,
                                   uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};" ::"r"(to),
      "l"(map), "r"(barrier), "r"(pixel.channel), "r"(pixel.x), "r"(pixel.y), "r"(pixel.image), "h"(offset.x),
      "h"(offset.y)
      : "memory");
}

/// Copies `bytes` in a row, a multiple of 16.
__device__ inline void load_bytes(uint32_t to, const void* from, unsigned bytes, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

/// Brings as many into the L2 cache.
__device__ inline void prefetch_bytes(const void* from, unsigned bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}

__device__ inline unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// The four warps of a warp group keep so many registers a thread, or get as many, as soon as others gave
/// some.
template <int kCount>
__device__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}
template <int kCount>
__device__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}

__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kPending>
__device__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

/// Rows of 128 or 64 bytes, swizzled as the copy engine leaves them.
template <int kBytes>
__device__ uint64_t swizzled_rows(uint32_t address) {
  constexpr uint64_t kSwizzle = kBytes == 128 ? 1 : 2;
  return uint64_t{(address & 0x3FFFF) >> 4} | uint64_t{1} << 16 | uint64_t{8 * kBytes / 16} << 32 |
         kSwizzle << 62;
}
/// A piece: cores of 8 outputs x 16 bytes; `next_half` bytes between the halves of a slice.
__device__ inline uint64_t piece_cores(uint32_t address, uint32_t next_half) {
  return uint64_t{(address & 0x3FFFF) >> 4} | uint64_t{next_half >> 4} << 16 | uint64_t{128 >> 4} << 32;
}

}  // namespace hewn::kernels::cuda::block_sparse
