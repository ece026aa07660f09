#include "cli/usage/plan.h"

#include "cli/torch/report_table.h"
#include "cli/training.h"
#include "hewn/nn/trace.h"
#include "hewn/run/costs.h"
#include "hewn/run/options.h"
#include "hewn/train/network.h"

namespace hewn::cli {

int run_plan(PlanFields& fields, const Given& given) {
  Given training = training_part(given);
  if (fields.options.data.empty()) training.erase("data");
  run::Options options = run::options_from(training);
  run::load_costs(options);
  const nn::Signature signature = train::signature_for(options.model, fields.options.data);
  const auto model = train::build_model(options, signature);
  const prune::Plan plan =
      prune::make_plan(nn::traced_shapes(*model, signature.input), plan_options(options.prune));
  print_report(train::planned_report(*model, plan), fields.json);
  return 0;
}

}  // namespace hewn::cli
