#include <memory>

#include "cli/command.h"
#include "cli/report_table.h"
#include "cli/training.h"
#include "hewn/nn/slots.h"
#include "hewn/run/options.h"
#include "hewn/train/network.h"

namespace hewn::cli {
namespace {

struct PlanFields {
  run::Options options;
  bool json = false;

  PlanFields() { options.data.clear(); }  // the model's usual one
};

int run_plan(const PlanFields& fields, const Given& given) {
  Given training = training_part(given);
  if (fields.options.data.empty()) training.erase("data");
  const run::Options options = run::options_from(training);
  const auto model = train::build_model(options, train::signature_for(options.model, fields.options.data));
  const prune::Plan plan =
      prune::make_plan(nn::weight_shapes(nn::find_slots(*model)), plan_options(options.prune));
  print_report(train::planned_report(*model, plan), fields.json);
  return 0;
}

}  // namespace

Command plan_command() {
  const auto fields = std::make_shared<PlanFields>();
  Command command;
  command.name = "plan";
  command.help = "show what would be pruned, before any training";
  command.example = "hewn plan --model resnet50 --block 32 --sparsity 0.9";
  command.options = run::describe(fields->options)
                        .pick({"model", "data", "block", "sparsity", "min-blocks", "prune-layers", "widths",
                               "width", "embedding"});
  command.options.add("json", fields->json, "print JSON");
  command.defaults = training_defaults;
  command.run = [fields](const Given& given) { return run_plan(*fields, given); };
  return command;
}

}  // namespace hewn::cli
