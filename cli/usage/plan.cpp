#include "cli/usage/plan.h"

#include <memory>

#include "cli/training.h"
#include "hewn/run/costs.h"

namespace hewn::cli {

Command plan_command() {
  const auto fields = std::make_shared<PlanFields>();
  Command command;
  command.name = "plan";
  command.help = "show what would be pruned, before any training";
  command.example = "hewn plan --model resnet50 --block 32 --sparsity 0.9";
  command.options = run::describe(fields->options)
                        .pick({"model", "data", "block", "sparsity", "budget", "costs", "min-blocks",
                               "prune-layers", "widths", "width", "stem", "depth", "patch", "embedding"});
  command.options.add("json", fields->json, "print JSON");
  command.defaults = training_defaults;
  command.run = [fields](const Given& given) {
    check_known(fields->options.model, fields->options.data);
    run::check_costs(fields->options);
    return run_plan(*fields, given);
  };
  return command;
}

}  // namespace hewn::cli
