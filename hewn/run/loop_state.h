#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hewn/core/json.h"

namespace hewn::run {

/// What a checkpoint holds besides tensors: where the loop stood.
struct LoopState {
  int64_t step = 0;     // steps done
  int64_t pending = 0;  // of them, steps whose losses were not reported
  double first_loss = 0;
  double seconds = 0;
  int64_t phase_index = -1;  // of the schedule; -1: before the first step
  int64_t optimiser_steps = 0;
  bool unevaluated = false;  // the evaluation that was due after that step is to be made up for
  std::optional<uint32_t> teacher = {};
};

/// What the run that goes on allows.
struct StateLimits {
  int64_t step = 0;  // of the checkpoint's name
  int64_t steps = 0;
  int64_t log_every = 0;
};

Json to_json(const LoopState& state);
/// Throws FormatError, naming `where` and the key, for one that is missing, of another kind or out of range.
LoopState read_loop_state(const Json& json, const StateLimits& limits, const std::string& where);

}  // namespace hewn::run
