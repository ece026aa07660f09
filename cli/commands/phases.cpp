#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/table.h"
#include "cli/training.h"
#include "hewn/core/error.h"
#include "hewn/run/method_name.h"
#include "hewn/run/recipe.h"

namespace hewn::cli {
namespace {

struct PhasesFields {
  run::Options options;
  bool json = false;

  PhasesFields() { options.steps = 1000; }
};

int run_phases(const PhasesFields& fields, const Given& given) {
  const run::Options options = run::options_from(training_part(given));
  const int64_t steps = fields.options.steps;
  const prune::Recipe recipe = run::resolve_recipe(options);
  const prune::Schedule schedule = prune::make_schedule(recipe.schedule, recipe.schedule_options, steps);
  if (fields.json) {
    Json list = Json::array();
    for (const prune::PhaseSpan& span : schedule.phases()) {
      list.push_back({{"phase", prune::name_of(span.phase)}, {"begin", span.begin}, {"end", span.end}});
    }
    std::cout << list.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
    return 0;
  }
  std::vector<std::vector<std::string>> rows = {{"phase", "begin", "end", "share", "sparsity"}};
  for (const prune::PhaseSpan& span : schedule.phases()) {
    const auto at = [&](double t) {
      return percent(prune::ramp_sparsity(recipe.ramp, recipe.ramp_c, t, options.prune.sparsity));
    };
    const std::string sparsity = span.phase == prune::Phase::kDense ? percent(0)
                                 : span.phase == prune::Phase::kSparse
                                     ? percent(options.prune.sparsity)
                                     : str(at(0), " -> ", at(0.5), " -> ", at(1));
    rows.push_back({std::string(prune::name_of(span.phase)), str(span.begin), str(span.end),
                    percent(static_cast<double>(span.end - span.begin) / static_cast<double>(steps)),
                    sparsity});
  }
  std::cout << "schedule " << recipe.schedule << " over " << steps << " steps, method "
            << run::method_name(options, recipe) << "\n\n";
  print_table(std::cout, rows, {false, true, true, true, false});
  return 0;
}

}  // namespace

Command phases_command() {
  const auto fields = std::make_shared<PhasesFields>();
  Command command;
  command.name = "phases";
  command.help = "show the phases of a schedule";
  command.example = "hewn phases --method sa++ --steps 1000";
  command.options = run::describe(fields->options)
                        .pick({"method", "data", "optimiser", "init", "schedule", "steps", "sparsity", "ramp",
                               "ramp-c", "dense-fraction", "sparsification", "cycles", "cycle"});
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given& given) { return run_phases(*fields, given); };
  return command;
}

}  // namespace hewn::cli
