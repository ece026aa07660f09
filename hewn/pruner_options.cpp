#include "hewn/pruner_options.h"

#include "hewn/core/error.h"
#include "hewn/core/table.h"
#include "hewn/prune/names.h"

namespace hewn {
namespace {

template <class T, class U>
void replace(T& part, const std::optional<U>& given) {
  if (given) part = *given;
}

/// "global" was a search before budgets were.
prune::Budget budget_of(const PrunerOptions& o, prune::Recipe& recipe) {
  prune::Budget budget = prune::parse_budget(o.budget);
  if (recipe.search == "global") {
    if (!budget.shared()) budget = {prune::BudgetKind::kGlobal, 0};
    recipe.search = "top-k";
  }
  if (budget.shared() && recipe.search != "top-k") {
    throw Error(str("budget: ", o.budget, " does not go with search ", recipe.search));
  }
  return budget;
}

/// When the first DENSE phase ends belongs to a form's own schedule: another one begins as the method says.
void take_schedule(prune::Recipe& recipe, const std::string& schedule) {
  if (schedule == recipe.schedule) return;
  recipe.schedule = schedule;
  recipe.schedule_options = prune::find_recipe(recipe.name).schedule_options;
}

}  // namespace

prune::Recipe recipe_of(const PrunerOptions& o, const prune::Setting& setting) {
  const std::string usual = o.support.empty() ? prune::kUsualMethod : "fixed-support";
  prune::Recipe recipe = prune::recipe_for(o.method.value_or(usual), setting);
  replace(recipe.score, o.score);
  replace(recipe.search, o.search);
  recipe.budget = budget_of(o, recipe);
  if (o.schedule) take_schedule(recipe, prune::schedule_for(*o.schedule, setting));
  if (o.drop) recipe.drop = prune::parse_drop_rule(*o.drop);
  if (o.reset) recipe.reset = prune::parse_reset_rule(*o.reset);
  replace(recipe.logit_lr, o.logit_lr);
  replace(recipe.logit_decay, o.logit_decay);
  if (o.logit_moment) {
    if (*o.logit_moment != "own" && *o.logit_moment != "shared") {
      throw Error(str("logit-moment: expected own or shared, got \"", *o.logit_moment, "\""));
    }
    recipe.shared_moment = *o.logit_moment == "shared";
  }
  replace(recipe.clip_grad, o.clip_grad);
  if (o.attention_clip) recipe.score_options.clip = prune::parse_attention_clip(*o.attention_clip);
  replace(recipe.score_options.start, o.logit_start);
  recipe.decay_dropped = o.decay_dropped;
  replace(recipe.score_options.alpha, o.alpha);
  if (o.ramp) recipe.ramp = prune::parse_ramp(*o.ramp);
  replace(recipe.ramp_c, o.ramp_c);
  replace(recipe.rerank_every, o.rerank_every);
  replace(recipe.revive, o.revive);
  replace(recipe.schedule_options.dense_fraction, o.dense_fraction);
  replace(recipe.schedule_options.cycles, o.cycles);
  recipe.schedule_options.sparsification = o.sparsification;
  if (o.cycle.size() != 3) throw Error("cycle: expected three parts such as 1,1,1");
  for (size_t i = 0; i < 3; ++i) recipe.schedule_options.cycle[i] = static_cast<double>(o.cycle[i]);
  return recipe;
}

prune::PlanOptions plan_options(const PrunerOptions& o) {
  prune::PlanOptions out{o.block, o.sparsity, o.min_blocks, o.layers, o.except};
  out.rounding = o.rounding == "nearest" ? Rounding::kNearest : Rounding::kDown;
  out.budget = prune::parse_budget(o.budget);
  if (o.search == "global" && !out.budget.shared()) out.budget = {prune::BudgetKind::kGlobal, 0};
  out.times = o.times;
  return out;
}

void check(const PrunerOptions& o) {
  const auto require = [](bool good, const char* key, const char* expected, auto got) {
    if (!good) throw Error(str(key, ": expected ", expected, ", got ", got));
  };
  require(o.sparsity >= 0 && o.sparsity < 1, "sparsity", "a number in [0, 1)", o.sparsity);
  require(o.block.rows >= 1 && o.block.cols >= 1, "block", "sizes of at least 1", to_string(o.block));
  require(o.rounding == "down" || o.rounding == "nearest", "rounding", "down or nearest", o.rounding);
  require(o.logit_start.value_or(0) >= 0, "logit-start", "0 or more", o.logit_start.value_or(0));
  require(o.clip_grad.value_or(0) >= 0, "clip-grad", "0 or more", o.clip_grad.value_or(0));
  require(o.logit_lr.value_or(0) >= 0, "logit-lr", "0 or more", o.logit_lr.value_or(0));
  // Names and schedules are the same in every setting.
  const prune::Recipe recipe = recipe_of(o, {.clicks = o.clicks, .trained = o.trained});
  find_row(prune::score_names(), recipe.score, "score");
  find_row(prune::search_names(), recipe.search, "search");
  prune::make_schedule(recipe.schedule, recipe.schedule_options, /*steps=*/1000);
}

}  // namespace hewn
