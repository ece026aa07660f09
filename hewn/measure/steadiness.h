#pragma once

#include <string>

#include "hewn/measure/interleave.h"

namespace hewn::measure {

/// Rounds are repeated while they tell nothing, up to so many times as many as were asked for.
inline constexpr int64_t kMostTurns = 4;

/// A speed-up above so many times what fewer products can give gets a word, and that word.
inline constexpr double kBeyondProducts = 1.05;
inline constexpr const char* kWhyBeyondProducts =
    "the dense way is further from this machine's peak, or the kept weights fit a cache that all of them do "
    "not";

/// Whether rounds in which two ways took turns tell how much faster one of them is.
struct Steadiness {
  int64_t rounds = 0;    // that were run
  int64_t calm = 0;      // of these, in which neither way waited for a processor
  Spread ratio;          // round by round
  std::string withheld;  // why the ratio cannot be told to 10 %; empty: it can

  bool steady() const { return withheld.empty(); }
};

/// `of` over `to`, timings of one interleave. Fewer than three rounds have no spread to judge by.
Steadiness judge(const Timing& of, const Timing& to);

}  // namespace hewn::measure
