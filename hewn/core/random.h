#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hewn {

/// Counter-based random numbers (Philox 4x32-10; Salmon et al. 2011): the value is a pure function of key and
/// counter, so any worker, rank or resumed run draws the same numbers without sharing a state.
std::array<uint32_t, 4> philox(uint64_t key, uint64_t counter_high, uint64_t counter_low);

/// What a stream of numbers is for. Streams of one seed never overlap.
enum class Stream : uint64_t {
  kOrder = 1,
  kAugment = 2,
  kInit = 3,
  kPattern = 4,
  kSynthetic = 5,
  kWorld = 6,          // the truth behind a synthetic click log
  kClicks = 7,         // its training rows
  kHeldOutClicks = 8,  // its other rows
  kSplit = 9,          // which part of a click log a row belongs to
  kRows = 10,          // the order of its rows
  kWindows = 11        // which parts of a text are shown
};

/// The high counter of an epoch in a stream. The two share it: 2^56 epochs are enough for anyone.
inline uint64_t counter_of(Stream stream, uint64_t epoch) {
  return (static_cast<uint64_t>(stream) << 56) | epoch;
}

/// Four words for item `index` of `epoch` in a stream.
std::array<uint32_t, 4> draw(uint64_t seed, Stream stream, uint64_t epoch, uint64_t index);

/// Uniform integer in [0, bound) from one word; the bias is below bound / 2^32.
inline uint32_t below(uint32_t word, uint32_t bound) {
  return static_cast<uint32_t>((static_cast<uint64_t>(word) * bound) >> 32);
}

/// Uniform in [0, 1).
inline double unit(uint32_t word) { return static_cast<double>(word) * 0x1p-32; }

/// A uniformly random order of 0..size-1 for an epoch.
std::vector<int64_t> permutation(uint64_t seed, uint64_t epoch, int64_t size);

}  // namespace hewn
