#pragma once

#include <optional>

namespace hewn::prune {

/// Where attention is clamped: to [low, high], or without numbers to [density, 1 / density].
struct AttentionClip {
  bool on = true;
  std::optional<double> low = {};
  std::optional<double> high = {};
};

/// The knobs that scores share. Each reads those that concern it.
struct ScoreOptions {
  AttentionClip clip = {};
  double alpha = 2;  // exponent of powerprop and attention-power
  double start = 0;  // logits begin at this times the logarithm of the norms, 0: at zero
};

}  // namespace hewn::prune
