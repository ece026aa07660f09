// One CUDA block per layer. The smallest importance that is still kept is found eight bits at a time from
// counts of leading bits; integers add up to the same in any order, so that the choice repeats.
#include <algorithm>

#include "hewn/kernels/cuda/cuda.h"
#include "hewn/kernels/cuda/launch.cuh"

namespace hewn::kernels::cuda {
namespace {

constexpr int kThreads = 1024;
constexpr int kDigits = 256;
constexpr size_t kMost = 512;  // layers in one launch: what fits into a kernel's arguments

struct Items {
  TopKItem at[kMost];
};

/// An integer that orders like the float: both zeros are equal, NaN is the largest, as LibTorch sorts.
__device__ unsigned key_of(const TopKItem& item, int64_t i) {
  float value = item.importance[i];
  if (item.within != nullptr && item.within[i] == 0) value = -INFINITY;
  if (isnan(value)) return 0xffffffffu;
  if (value == 0.0f) value = 0.0f;
  const unsigned bits = __float_as_uint(value);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

/// What is known of the smallest kept key: its leading bits, and how many of the keys with these are kept.
struct Threshold {
  unsigned bits = 0;
  unsigned known = 0;  // mask of the bits that are known
  unsigned left = 0;
};

__device__ Threshold narrow(const TopKItem& item, Threshold from, int shift) {
  __shared__ unsigned counts[kDigits];
  __shared__ Threshold next;
  for (int i = static_cast<int>(threadIdx.x); i < kDigits; i += kThreads) counts[i] = 0;
  __syncthreads();
  for (int64_t i = threadIdx.x; i < item.blocks; i += kThreads) {
    const unsigned key = key_of(item, i);
    if ((key & from.known) == from.bits) atomicAdd(&counts[key >> shift & (kDigits - 1)], 1u);
  }
  __syncthreads();
  // counts[d] becomes the number of keys whose digit is at least d.
  for (int step = 1; step < kDigits; step *= 2) {
    const int at = static_cast<int>(threadIdx.x);
    const unsigned more = at + step < kDigits ? counts[at + step] : 0;
    __syncthreads();
    if (at < kDigits) counts[at] += more;
    __syncthreads();
  }
  if (threadIdx.x < kDigits) {
    const unsigned above = threadIdx.x + 1 < kDigits ? counts[threadIdx.x + 1] : 0;
    if (above < from.left && counts[threadIdx.x] >= from.left) {
      next.bits = from.bits | threadIdx.x << shift;
      next.known = from.known | static_cast<unsigned>(kDigits - 1) << shift;
      next.left = from.left - above;
    }
  }
  __syncthreads();
  return next;
}

/// How many threads before this one say yes; `all` gets how many do.
__device__ unsigned yes_before(bool yes, unsigned* all) {
  __shared__ unsigned of_warps[32];
  const unsigned votes = __ballot_sync(0xffffffff, yes);
  const unsigned lane = threadIdx.x % 32;
  __syncthreads();
  if (lane == 0) of_warps[threadIdx.x / 32] = __popc(votes);
  __syncthreads();
  unsigned before = __popc(votes & ((1u << lane) - 1));
  unsigned total = 0;
  for (unsigned warp = 0; warp < 32; ++warp) {
    if (warp < threadIdx.x / 32) before += of_warps[warp];
    total += of_warps[warp];
  }
  *all = total;
  return before;
}

__global__ void top_k_kernel(const __grid_constant__ Items items) {
  const TopKItem& item = items.at[blockIdx.x];
  Threshold threshold{0, 0, static_cast<unsigned>(item.keep)};
  if (item.keep > 0) {
    for (int shift = 24; shift >= 0; shift -= 8) threshold = narrow(item, threshold, shift);
  }
  // Of those equal to the threshold the first ones are kept.
  for (int64_t begin = 0; begin < item.blocks; begin += kThreads) {
    const int64_t i = begin + threadIdx.x;
    const bool here = i < item.blocks;
    const unsigned key = here ? key_of(item, i) : 0;
    const bool equal = here && key == threshold.bits;
    unsigned all = 0;
    const unsigned before = yes_before(equal, &all);
    if (here) {
      item.support[i] = item.keep > 0 && (equal ? before < threshold.left : key > threshold.bits) ? 1 : 0;
    }
    threshold.left -= min(threshold.left, all);
  }
}

}  // namespace

void top_k(std::span<const TopKItem> items, void* stream) {
  for (size_t begin = 0; begin < items.size(); begin += kMost) {
    const auto part = items.subspan(begin, std::min(kMost, items.size() - begin));
    Items batch;
    std::copy(part.begin(), part.end(), batch.at);
    top_k_kernel<<<static_cast<unsigned>(part.size()), kThreads, 0, as_stream(stream)>>>(batch);
    check_launch("top_k");
  }
}

}  // namespace hewn::kernels::cuda
