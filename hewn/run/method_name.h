#pragma once

#include <string>

#include "hewn/prune/recipes.h"
#include "hewn/run/options.h"

namespace hewn::run {

/// What a run's method is called wherever it is shown or recorded: its name, and the parts in which options
/// differ from the row of that name, as in "sa++r with score=magnitude, drop=mask"; "sa++r with teacher"
/// where it has one.
std::string method_name(const Options& options);
/// The same where the network has decided on a recipe.
std::string method_name(const Options& options, const prune::Recipe& recipe);

/// Whether a run of that name prunes nothing.
bool names_dense(const std::string& method);

/// The same as part of a folder's name, with block and sparsity where anything is pruned.
std::string method_label(const Options& options);

}  // namespace hewn::run
