#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "hewn/run/observer.h"

namespace hewn::run {

/// How long a training will take yet: the steps left in each phase by the mean of those seen there, and the
/// evaluations left by the mean of those. A phase not seen yet counts as the others do, and comes into its
/// own step by step, so that the estimate does not jump. The first step, which makes everything ready, is no
/// measure. Moments are in seconds from anywhere.
class TimeLeft {
 public:
  /// What was seen of a training before stays: that of the dense model tells of the one behind it.
  void begin(const Course& course, double now);
  void step(prune::Phase phase, double now);
  void evaluated(double now);

  /// Nothing before the second step.
  std::optional<double> seconds() const;

 private:
  /// Of the last so many: machines change their pace.
  struct Mean {
    double value = 0;
    int64_t count = 0;
    void add(double seconds);
  };

  double step_seconds() const;

  Course course_;
  bool warm_ = false;  // the first step is done
  double mark_ = 0;    // when the last step or evaluation ended
  std::array<Mean, kPhases> steps_;
  Mean evaluations_;
};

}  // namespace hewn::run
