#include "hewn/run/recipe.h"

#include "hewn/data/info.h"

namespace hewn::run {

PrunerOptions pruner_options(const Options& o, int64_t steps) {
  PrunerOptions prune = o.prune;
  prune.clicks = data::find_info(o.data).kind == data::Kind::kClicks;
  prune.adam = parse_optimiser(o.optimiser) != kernels::UpdateKind::kSgd;
  prune.trained = !o.init.empty();
  prune.steps = steps;
  return prune;
}

OptimiserOptions optimiser_options(const Options& options) {
  OptimiserOptions out;
  out.kind = options.optimiser;
  out.weight_decay = options.weight_decay;
  out.decay_all = options.decay_all;
  out.momentum = options.momentum;
  out.nesterov = options.nesterov;
  return out;
}

double peak_rate(const Options& options) {
  return options.lr.value_or(parse_optimiser(options.optimiser) == kernels::UpdateKind::kSgd ? 0.1 : 0.001);
}

prune::Recipe resolve_recipe(const Options& o) {
  const PrunerOptions prune = pruner_options(o, 0);
  return recipe_of(prune, {.clicks = prune.clicks, .adam = *prune.adam, .trained = prune.trained});
}

void record_recipe(const prune::Recipe& recipe, Options& o) {
  o.prune.method = recipe.name;
  o.prune.score = recipe.score;
  o.prune.search = recipe.search;
  o.prune.budget = prune::to_string(recipe.budget);
  o.prune.schedule = recipe.schedule;
  o.prune.drop = std::string(prune::name_of(recipe.drop));
  o.prune.reset = std::string(prune::name_of(recipe.reset));
  o.prune.logit_lr = recipe.logit_lr;
  o.prune.logit_decay = recipe.logit_decay;
  o.prune.logit_moment = recipe.shared_moment ? "shared" : "own";
  o.prune.clip_grad = recipe.clip_grad;
  o.prune.attention_clip = prune::to_string(recipe.score_options.clip);
  o.prune.logit_start = recipe.score_options.start;
  o.prune.decay_dropped = recipe.decay_dropped;
  o.prune.alpha = recipe.score_options.alpha;
  o.prune.ramp = std::string(prune::name_of(recipe.ramp));
  o.prune.ramp_c = recipe.ramp_c;
  o.prune.rerank_every = recipe.rerank_every;
  o.prune.revive = recipe.revive;
  o.prune.dense_fraction = recipe.schedule_options.dense_fraction;
  o.prune.cycles = recipe.schedule_options.cycles;
}

}  // namespace hewn::run
