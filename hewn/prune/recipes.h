#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/prune/budget.h"
#include "hewn/prune/schedule/schedule.h"
#include "hewn/prune/score/options.h"

namespace hewn::prune {

/// What happens to the weights of dropped blocks when a SPARSE phase begins: they keep their value behind a
/// closed gate, or they are set to zero and return as zeros.
enum class DropRule : uint8_t { kMask, kZero };

/// When the optimiser forgets its momentum and moments: never, when a DENSE phase begins after a sparse one,
/// or at every change of phase.
enum class ResetRule : uint8_t { kNone, kDecompress, kEvery };

std::string_view name_of(DropRule rule);
std::string_view name_of(ResetRule rule);
std::string_view name_of(Ramp ramp);
DropRule parse_drop_rule(const std::string& name);
ResetRule parse_reset_rule(const std::string& name);
Ramp parse_ramp(const std::string& name);
/// "true", "false" or "LOW,HIGH".
AttentionClip parse_attention_clip(const std::string& text);
std::string to_string(const AttentionClip& clip);

/// A pruning method is a row of this table: a score, a search, a schedule and the rules between them.
struct Recipe {
  std::string name;
  std::string help;
  std::string score = "magnitude";
  std::string search = "top-k";
  Budget budget = {};                 // a shared one chooses by search "global"
  std::string schedule = "one-shot";  // "acdc" and "sa++" stand for the form that fits the task
  DropRule drop = DropRule::kMask;
  ResetRule reset = ResetRule::kNone;
  double logit_lr = 1;                     // learning rate of the score's parameters over that of the weights
  std::optional<double> logit_decay = {};  // their weight decay, where it is not that of the weights
  bool shared_moment = false;              // Adam: one second moment for all score parameters of a layer
  double clip_grad = 0;  // largest norm of all gradients together, where the user gives none; 0: no limit
  bool decay_dropped = false;  // an optimiser that knows nothing of supports: dropped weights decay too
  ScoreOptions score_options = {};
  ScheduleOptions schedule_options = {};
  Ramp ramp = Ramp::kExponential;
  double ramp_c = 4;
  int64_t rerank_every = 1;  // steps between selections during SPARSIFICATION
  bool revive = false;  // at the last selection blocks on no path from input to output make room for others

  /// True where nothing is ever pruned.
  bool dense() const { return schedule == "dense"; }
};

const std::vector<Recipe>& recipes();
const Recipe& find_recipe(const std::string& name);

/// What decides the form that a recipe takes.
struct Setting {
  bool clicks = false;   // click-through prediction rather than images
  bool adam = false;     // Adam or AdamW rather than SGD
  bool trained = false;  // training begins with the weights of a trained network

  bool operator==(const Setting&) const = default;
};

/// The method that is used where the user names none.
inline const std::string kUsualMethod = "sa++r";
/// The row of that name in the form that fits: schedule, drop rule and rates.
Recipe recipe_for(const std::string& name, const Setting& setting);
/// "sa++" -> "sa++/imagenet" or "sa++/ctr"; other names are returned as they are.
std::string schedule_for(const std::string& schedule, const Setting& setting);

}  // namespace hewn::prune
