#include "hewn/run/method_name.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/run/recipe.h"

namespace hewn::run {
namespace {

constexpr size_t kMostParts = 4;  // in a folder's name

std::string part_text(const Json& value) {
  if (value.is_number()) return str(value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

const std::string kTaught = "teacher";

/// "score=magnitude" for each part that is not the method's own.
std::vector<std::string> changed_in_recipe(const Options& options, const prune::Recipe& recipe) {
  if (recipe.name == "dense" && recipe.dense()) return {};  // nothing is scored or dropped
  const PrunerOptions prune = pruner_options(options, 0);
  // Two sets of options that differ in parts of the method alone.
  Options own;
  Options now;
  record_recipe(
      prune::recipe_for(recipe.name, {.clicks = prune.clicks, .adam = *prune.adam, .trained = prune.trained}),
      own);
  record_recipe(recipe, now);
  now.prune.sparsification = options.prune.sparsification;
  now.prune.cycle = options.prune.cycle;
  const OptionTable usual = describe(own);
  std::vector<std::string> out;
  const OptionTable table = describe(now);
  for (const Option& option : table.options()) {
    if (option.get() == usual.find(option.key, "options").get()) continue;
    out.push_back(str(option.key, "=", part_text(option.get())));
  }
  return out;
}

/// Whose teacher it is the options say: a path is no part of a name.
std::vector<std::string> changed_parts(const Options& options, const prune::Recipe& recipe) {
  std::vector<std::string> out = changed_in_recipe(options, recipe);
  if (is_taught(options)) out.insert(out.begin(), kTaught);
  return out;
}

}  // namespace

bool names_dense(const std::string& method) { return method == "dense" || method == "dense with " + kTaught; }

std::string method_name(const Options& options) { return method_name(options, resolve_recipe(options)); }

std::string method_name(const Options& options, const prune::Recipe& recipe) {
  const std::vector<std::string> parts = changed_parts(options, recipe);
  return parts.empty() ? recipe.name : str(recipe.name, " with ", join(parts));
}

std::string method_label(const Options& options) {
  // Blocks and sparsity of a support that is kept are the file's, which nobody has read yet.
  if (options.keep_support) return is_taught(options) ? "fixed-support+" + kTaught : "fixed-support";
  const prune::Recipe recipe = resolve_recipe(options);
  std::string out = options.prune.method.value_or("auto");
  const std::vector<std::string> parts = changed_parts(options, recipe);
  for (size_t i = 0; i < std::min(parts.size(), kMostParts); ++i) out += "+" + parts[i];
  if (parts.size() > kMostParts) out += "+more";
  std::replace(out.begin(), out.end(), '/', '-');  // a folder's name, not a path
  if (recipe.dense()) return out;
  return str(out, "-b", short_text(options.prune.block), "-s", options.prune.sparsity);
}

}  // namespace hewn::run
