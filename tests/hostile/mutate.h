#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "hewn/core/json.h"

namespace hewn::test {

/// Damages files, the same way for the same seed.
class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  /// Bits flipped, bytes cut off, taken out, doubled, put in or overwritten with extreme numbers.
  std::string bytes(std::string text);
  /// A value anywhere in it replaced by one of another kind or size, or a key taken out or added.
  Json json(Json value);
  /// As text: by `json` where it is JSON, half of the time.
  std::string file(const std::string& content);

  uint64_t below(uint64_t limit) { return random_() % limit; }

 private:
  Json odd_value();

  std::mt19937_64 random_;
};

}  // namespace hewn::test
