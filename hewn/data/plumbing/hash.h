#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace hewn::data {

/// Spreads every bit of a number over all of them (the finaliser of MurmurHash3); one to one.
inline uint64_t mix(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

/// 64 bits that stand for a text; the same on every machine with little-endian numbers.
inline uint64_t hash_text(std::string_view text) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15ULL;
  uint64_t hash = mix(text.size() + kOdd);
  while (!text.empty()) {
    uint64_t word = 0;
    const size_t bytes = text.size() < sizeof(word) ? text.size() : sizeof(word);
    std::memcpy(&word, text.data(), bytes);
    hash = mix(hash ^ word) * kOdd;
    text.remove_prefix(bytes);
  }
  return hash;
}

}  // namespace hewn::data
