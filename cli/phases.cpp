#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/train/options.h"

namespace hewn::cli {
namespace {

struct PhasesFields {
  train::TrainOptions options;
  int64_t steps = 1000;
  bool json = false;
};

int run_phases(PhasesFields& fields, Given given) {
  for (const char* key : {"steps", "json"}) given.erase(key);
  fields.options = train::options_from(given);
  const prune::Recipe recipe = train::resolve_recipe(fields.options, /*normalised=*/true);
  const prune::Schedule schedule =
      prune::make_schedule(recipe.schedule, recipe.schedule_options, fields.steps);
  if (fields.json) {
    Json list = Json::array();
    for (const prune::PhaseSpan& span : schedule.phases()) {
      list.push_back({{"phase", prune::name_of(span.phase)}, {"begin", span.begin}, {"end", span.end}});
    }
    std::cout << list.dump() << '\n';
    return 0;
  }
  std::vector<std::vector<std::string>> rows = {{"phase", "begin", "end", "share", "sparsity"}};
  for (const prune::PhaseSpan& span : schedule.phases()) {
    const auto at = [&](double t) {
      return percent(prune::ramp_sparsity(recipe.ramp, recipe.ramp_c, t, fields.options.prune.sparsity));
    };
    const std::string sparsity = span.phase == prune::Phase::kDense ? percent(0)
                                 : span.phase == prune::Phase::kSparse
                                     ? percent(fields.options.prune.sparsity)
                                     : str(at(0), " -> ", at(0.5), " -> ", at(1));
    rows.push_back({std::string(prune::name_of(span.phase)), str(span.begin), str(span.end),
                    percent(static_cast<double>(span.end - span.begin) / static_cast<double>(fields.steps)),
                    sparsity});
  }
  std::cout << "schedule " << recipe.schedule << " over " << fields.steps << " steps, method " << recipe.name
            << "\n\n";
  print_table(std::cout, rows, {false, true, true, true, false});
  return 0;
}

}  // namespace

Command phases_command() {
  const auto fields = std::make_shared<PhasesFields>();
  train::TrainOptions& o = fields->options;
  Command command;
  command.name = "phases";
  command.help = "show the phases of a schedule";
  command.example = "hewn phases --method sa++ --steps 1000";
  command.options.add("method", o.prune.method, "pruning method");
  command.options.add("data", o.data, "data set: click logs have schedules of their own");
  command.options.add("schedule", o.prune.schedule, "schedule, instead of the method's own");
  command.options.add("steps", fields->steps, "training steps");
  command.options.add("sparsity", o.prune.sparsity, "target sparsity");
  command.options.add("ramp", o.prune.ramp, "exponential or polynomial");
  command.options.add("ramp-c", o.prune.ramp_c, "steepness of the ramp");
  command.options.add("dense-fraction", o.prune.dense_fraction,
                      "share of the first dense phase, where not the schedule's own");
  command.options.add_negated("no-sparsification", o.prune.sparsification, "without SPARSIFICATION phases");
  command.options.add("cycles", o.prune.cycles, "how often acdc and sa++ schedules go from dense to sparse");
  command.options.add("cycle", o.prune.cycle, "parts of a cycle: sparsification, sparse, dense");
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given& given) { return run_phases(*fields, given); };
  return command;
}

}  // namespace hewn::cli
