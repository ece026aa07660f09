#pragma once

#include <cstdint>

// What CPU and GPU must compute alike is written once, in headers that both compilers read.
#ifdef __CUDACC__
#define HEWN_CPU_AND_GPU __host__ __device__
#else
#define HEWN_CPU_AND_GPU
#endif

namespace hewn {

/// Four random words.
struct PhiloxBlock {
  uint32_t word[4];
};

/// The ten rounds of Philox 4x32-10.
HEWN_CPU_AND_GPU inline PhiloxBlock philox_mix(uint64_t key, uint64_t counter_high, uint64_t counter_low) {
  uint32_t x0 = static_cast<uint32_t>(counter_low);
  uint32_t x1 = static_cast<uint32_t>(counter_low >> 32);
  uint32_t x2 = static_cast<uint32_t>(counter_high);
  uint32_t x3 = static_cast<uint32_t>(counter_high >> 32);
  uint32_t k0 = static_cast<uint32_t>(key);
  uint32_t k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = 0xD2511F53ULL * x0;
    const uint64_t p1 = 0xCD9E8D57ULL * x2;
    x0 = static_cast<uint32_t>(p1 >> 32) ^ x1 ^ k0;
    x1 = static_cast<uint32_t>(p1);
    x2 = static_cast<uint32_t>(p0 >> 32) ^ x3 ^ k1;
    x3 = static_cast<uint32_t>(p0);
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return {{x0, x1, x2, x3}};
}

}  // namespace hewn
