#pragma once

#include <cstdint>

#include "hewn/optimiser_options.h"
#include "hewn/pruner_options.h"
#include "hewn/run/options.h"

namespace hewn::run {

/// How a run of so many steps is pruned, with what data and optimiser say of it filled in.
PrunerOptions pruner_options(const Options& options, int64_t steps);

/// How it is updated; the learning rate is the loop's.
OptimiserOptions optimiser_options(const Options& options);

/// The learning rate at its peak: the one given, or what is usual for the optimiser.
double peak_rate(const Options& options);

/// The method's row of the table in the form that fits, with the options' own choices put in.
prune::Recipe resolve_recipe(const Options& options);

/// Writes the recipe's choices back, so that config.json says them all.
void record_recipe(const prune::Recipe& recipe, Options& options);

}  // namespace hewn::run
