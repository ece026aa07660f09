#include "hewn/prune/recipes.h"

#include <array>
#include <utility>

#include "hewn/core/error.h"
#include "hewn/core/table.h"
#include "hewn/core/text.h"

namespace hewn::prune {
namespace {

template <class T, size_t N>
using Names = std::array<std::pair<T, std::string_view>, N>;

constexpr Names<DropRule, 2> kDropRules = {{{DropRule::kMask, "mask"}, {DropRule::kZero, "zero"}}};
constexpr Names<ResetRule, 3> kResetRules = {
    {{ResetRule::kNone, "none"}, {ResetRule::kDecompress, "decompress"}, {ResetRule::kEvery, "every"}}};
constexpr Names<Ramp, 2> kRamps = {{{Ramp::kExponential, "exponential"}, {Ramp::kPolynomial, "polynomial"}}};

template <class T, size_t N>
std::string_view name_in(const Names<T, N>& names, T value) {
  for (const auto& [candidate, name] : names) {
    if (candidate == value) return name;
  }
  return "?";
}

template <class T, size_t N>
T parse_in(const Names<T, N>& names, const char* option, const std::string& text) {
  std::vector<std::string> known;
  for (const auto& [value, name] : names) {
    if (name == text) return value;
    known.emplace_back(name);
  }
  throw Error(str(option, ": expected one of ", join(known), ", got \"", text, "\""));
}

}  // namespace

std::string_view name_of(DropRule rule) { return name_in(kDropRules, rule); }
std::string_view name_of(ResetRule rule) { return name_in(kResetRules, rule); }
std::string_view name_of(Ramp ramp) { return name_in(kRamps, ramp); }
DropRule parse_drop_rule(const std::string& name) { return parse_in(kDropRules, "drop", name); }
ResetRule parse_reset_rule(const std::string& name) { return parse_in(kResetRules, "reset", name); }
Ramp parse_ramp(const std::string& name) { return parse_in(kRamps, "ramp", name); }

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> kRows = {
      {.name = "dense", .help = "no pruning: the baseline", .schedule = "dense"},
      {.name = "magnitude", .help = "prune once by block norm, then fine-tune"},
      {.name = "fixed-support",
       .help = "the same blocks from the first step to the last: those of --keep-support, else the largest",
       .schedule = "sparse",
       .drop = DropRule::kZero},
      {.name = "powerprop", .help = "prune once by the norm of powerpropagated blocks", .score = "powerprop"},
      {.name = "acdc",
       .help = "alternate dense and sparse training, blocks by norm (Peste et al. 2021)",
       .schedule = "acdc",
       .drop = DropRule::kZero,
       .reset = ResetRule::kDecompress},
      {.name = "sa", .help = "prune once by learned attention", .score = "attention"},
      {.name = "sa++",
       .help = "SequentialAttention++ as in the paper",
       .score = "attention",
       .schedule = "sa++",
       .reset = ResetRule::kEvery},
      {.name = "sa++r",
       .help = "SequentialAttention++ refined: blocks return as zeros, logits learn faster, gradients are "
               "clipped",
       .score = "attention",
       .schedule = "sa++",
       .drop = DropRule::kZero,
       .reset = ResetRule::kEvery,
       .logit_lr = 10,
       .logit_decay = 0,
       .clip_grad = 1},
      {.name = "sequential-attention",
       .help = "one long backward selection by learned attention",
       .score = "attention",
       .schedule = "gradual"},
      {.name = "group-lasso",
       .help = "prune once by a factor per block with L2 decay",
       .score = "identity-mask"},
      {.name = "l1-mask", .help = "prune once by a factor per block with L1 decay", .score = "l1-mask"},
  };
  return kRows;
}

const Recipe& find_recipe(const std::string& name) { return find_row(recipes(), name, "method"); }

namespace {

/// Adam's steps are as long for a logit that matters little as for one that matters much: they need a smaller
/// factor than under SGD, and no clipping. Clearing its moments jolts all weights.
void refine_for_adam(Recipe& recipe) {
  recipe.logit_lr = 3;
  recipe.logit_decay.reset();
  recipe.reset = ResetRule::kNone;
  recipe.clip_grad = 0;
}

/// Click logs: Adam measures every logit against itself: a block that the loss hardly misses rises as fast as
/// one that it misses badly. Measured against the whole layer, the blocks that bring something new win. Its
/// steps are as long for a block without use as for a useful one, so attention alone leaves much in blocks
/// that will be dropped: powerprop under it empties them. docs/study.md has the figures.
void refine_for_clicks(Recipe& recipe) {
  refine_for_adam(recipe);
  recipe.score = "attention-power";
  recipe.score_options.alpha = 1.5;
  recipe.drop = DropRule::kMask;
  recipe.shared_moment = true;
  recipe.logit_lr = 1;
}

}  // namespace

std::string usual_method(const Setting& setting) { return setting.normalised ? "sa++" : "sa++r"; }

Recipe recipe_for(const std::string& name, const Setting& setting) {
  Recipe recipe = find_recipe(name);
  if (setting.clicks) {
    // The paper's own ACDC for click-through prediction keeps the values of dropped weights.
    if (name == "acdc") recipe.drop = DropRule::kMask;
    if (recipe.schedule == "one-shot") recipe.schedule_options.dense_fraction = 0.8;
  }
  if (setting.adam && name == "sa++r") {
    (setting.clicks ? refine_for_clicks : refine_for_adam)(recipe);
  }
  recipe.schedule = schedule_for(recipe.schedule, setting);
  return recipe;
}

std::string schedule_for(const std::string& schedule, const Setting& setting) {
  if (schedule != "acdc" && schedule != "sa++") return schedule;
  return schedule + (setting.clicks ? "/ctr" : "/imagenet");
}

}  // namespace hewn::prune
