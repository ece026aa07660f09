#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hewn/deploy/predict.h"

namespace hewn::deploy {

/// Runs samples through a model as they come, and keeps what comes out.
class Predictor {
 public:
  /// `batch`: samples that are run at a time; `limit`: samples that are wanted, 0: all. Throws Error for
  /// numbers that make no sense.
  Predictor(OpenModel& model, int64_t batch, int64_t limit);

  int64_t batch() const { return batch_; }
  bool wants_more() const { return limit_ == 0 || out_.samples < limit_; }
  /// count x inputs; `files` has a name for each of them, or is empty. Answers wants_more().
  bool add(const float* values, int64_t count, const std::vector<std::string>& files = {});
  /// What came out, of regression in the target's unit.
  Predictions finish();

 private:
  OpenModel& model_;
  int64_t batch_;
  int64_t limit_;
  Predictions out_;
};

}  // namespace hewn::deploy
