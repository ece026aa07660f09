#include "cli/usage/plan.h"

#include "cli/torch/report_table.h"
#include "cli/training.h"
#include "hewn/nn/slots.h"
#include "hewn/run/options.h"
#include "hewn/train/network.h"

namespace hewn::cli {

int run_plan(PlanFields& fields, const Given& given) {
  Given training = training_part(given);
  if (fields.options.data.empty()) training.erase("data");
  const run::Options options = run::options_from(training);
  const auto model = train::build_model(options, train::signature_for(options.model, fields.options.data));
  const prune::Plan plan =
      prune::make_plan(nn::weight_shapes(nn::find_slots(*model)), plan_options(options.prune));
  print_report(train::planned_report(*model, plan), fields.json);
  return 0;
}

}  // namespace hewn::cli
