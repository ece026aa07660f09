#include "cli/training.h"

#include "cli/help.h"
#include "hewn/core/error.h"
#include "hewn/data/info.h"
#include "hewn/nn/signature.h"
#include "hewn/run/recipe.h"

namespace hewn::cli {

Given training_part(const Given& given) {
  run::Options any;
  const OptionTable table = run::describe(any);
  Given out;
  for (const std::vector<Option>* rows : {&table.options(), &table.old_options()}) {
    for (const Option& option : *rows) {
      if (const auto found = given.find(option.key); found != given.end()) out.insert(*found);
    }
  }
  return out;
}

Given training_defaults(const Given& given) {
  run::Options options = run::options_from(training_part(given));
  run::Options chosen = options;
  run::record_recipe(run::resolve_recipe(options), chosen);
  chosen.lr = run::peak_rate(options);
  const OptionTable table = run::describe(options);
  const OptionTable resolved = run::describe(chosen);
  Given out;
  for (const Option& option : table.options()) {
    const Json value = option.get();
    const Json choice = resolved.find(option.key, "help").get();
    const bool open = value.is_null() && !choice.is_null();
    out[option.key] = open ? str("auto: ", default_text(choice)) : default_text(value);
  }
  return out;
}

void check_known(const std::string& model, const std::string& data) {
  nn::usual_signature(model);
  if (!data.empty()) data::find_info(data);
}

}  // namespace hewn::cli
