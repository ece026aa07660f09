#include "cli/usage/sweep_rules.h"

#include "hewn/run/options.h"

namespace hewn::cli {

sweep::TrainRules option_rules() {
  run::Options options;
  const OptionTable table = run::describe(options);
  sweep::TrainRules rules{table.keys(),
                          [](const sweep::Options& given) { run::check_options(run::options_from(given)); },
                          run::only_prunes, run::may_change_on_resume};
  for (const Option& old : table.old_options()) rules.old_keys.push_back(old.key);
  rules.current = run::current_keys;
  return rules;
}

}  // namespace hewn::cli
