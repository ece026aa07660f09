#pragma once

namespace hewn::prune {

/// The knobs that scores share. Each reads those that concern it.
struct ScoreOptions {
  bool clip = true;  // clamp attention to [density, 1 / density]
  double alpha = 2;  // exponent of powerprop and attention-power
};

}  // namespace hewn::prune
