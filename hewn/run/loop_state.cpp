#include "hewn/run/loop_state.h"

#include "hewn/run/fields.h"

namespace hewn::run {

Json to_json(const LoopState& state) {
  Json out = {{"step", state.step},
              {"pending", state.pending},
              {"first_loss", state.first_loss},
              {"seconds", state.seconds},
              {"phase_index", state.phase_index},
              {"optimiser_steps", state.optimiser_steps}};
  if (state.unevaluated) out["unevaluated"] = true;
  if (state.teacher) out["teacher"] = *state.teacher;
  return out;
}

LoopState read_loop_state(const Json& json, const StateLimits& limits, const std::string& where) {
  Fields fields(json, where, "the state of a run");
  LoopState out;
  out.step = fields.whole("step", 0, limits.steps);
  if (out.step != limits.step) fields.reject("step", "is another one than the file's name says");
  out.pending = fields.whole("pending", 0, limits.log_every);
  if (out.pending > out.step) fields.reject("pending", "is more than there were steps");
  out.first_loss = fields.number("first_loss");
  out.seconds = fields.number("seconds");
  if (out.seconds < 0) fields.reject("seconds", "is below 0");
  out.phase_index = fields.whole("phase_index", -1, limits.steps);
  out.optimiser_steps = fields.whole("optimiser_steps", 0, limits.steps);
  if (fields.has("unevaluated")) out.unevaluated = fields.flag("unevaluated");
  if (fields.has("teacher"))
    out.teacher = static_cast<uint32_t>(fields.whole("teacher", 0, std::numeric_limits<uint32_t>::max()));
  return out;
}

}  // namespace hewn::run
