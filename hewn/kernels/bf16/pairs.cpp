#include "hewn/kernels/bf16/pairs.h"

#include "hewn/kernels/bf16/pair_planes.h"

namespace hewn::kernels {
namespace {

uint32_t pair_of(float low, float high) { return nearest_bf16(low) | nearest_bf16(high) << 16; }

}  // namespace

void to_pairs(const TwoRows& rows, uint32_t* pairs, int64_t count) {
  if (rows[1] == nullptr) {
    for (int64_t i = 0; i < count; ++i) pairs[i] = nearest_bf16(rows[0][i]);
    return;
  }
  for (int64_t i = 0; i < count; ++i) pairs[i] = pair_of(rows[0][i], rows[1][i]);
}

void samples_to_pairs(const float* samples, int64_t channels, int64_t count, uint32_t* pairs,
                      int64_t stride) {
  const PairMachine* machine = pair_machine();
  const int64_t done =
      machine == nullptr ? 0 : machine->samples_to_pairs(samples, channels, count, pairs, stride);
  for (int64_t i = done; i < count; ++i) {
    const float* sample = samples + i * channels;
    int64_t c = 0;
    for (; c + 1 < channels; c += 2) pairs[c / 2 * stride + i] = pair_of(sample[c], sample[c + 1]);
    if (c < channels) pairs[c / 2 * stride + i] = nearest_bf16(sample[c]);
  }
}

void from_pairs(const uint32_t* pairs, int64_t lane, float* row, int64_t count) {
  const uint32_t shift = lane == 0 ? 16 : 0;
  for (int64_t i = 0; i < count; ++i) row[i] = std::bit_cast<float>(pairs[i] << shift & 0xffff0000U);
}

void max_of_pairs(const uint32_t* a, const uint32_t* b, uint32_t* to, int64_t count) {
  const auto larger = [](uint32_t x, uint32_t y) {
    return std::bit_cast<float>(x) > std::bit_cast<float>(y) ? x : y;
  };
  const PairMachine* machine = pair_machine();
  const int64_t done = machine == nullptr ? 0 : machine->max_of_pairs(a, b, to, count);
  for (int64_t i = done; i < count; ++i) {
    to[i] = larger(a[i] << 16, b[i] << 16) >> 16 | larger(a[i] & 0xffff0000U, b[i] & 0xffff0000U);
  }
}

void add_up_pairs(const uint32_t* pairs, int64_t count, std::array<double, 2>& sums) {
  for (int64_t i = 0; i < count; ++i) {
    sums[0] += double{float_of(pairs[i] & 0xffffU)};
    sums[1] += double{float_of(pairs[i] >> 16)};
  }
}

}  // namespace hewn::kernels
