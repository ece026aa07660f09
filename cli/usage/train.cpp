#include "cli/usage/train.h"

#include <memory>

#include "cli/training.h"
#include "hewn/core/error.h"
#include "hewn/run/costs.h"

namespace hewn::cli {
namespace {

/// Says what is wrong as far as that is seen without data, network and device.
void check_train(const TrainFields& fields, const Given& given) {
  const Given training = training_part(given);
  run::Options options = run::options_from(training);
  if (fields.resume && options.out.empty()) throw Error("--resume: name the run folder with --out");
  if (fields.resume) return;  // what the run was started with holds
  run::check_options(options);
  run::load_costs(options);
}

}  // namespace

Command train_command() {
  const auto fields = std::make_shared<TrainFields>();
  Command command;
  command.name = "train";
  command.help = "train a block-sparse network";
  command.example = "hewn train --method sa++ --block 16 --sparsity 0.9 --compare-dense";
  command.options = run::describe(fields->options);
  command.grouped = true;
  command.options.group("General");
  command.options.add("resume", fields->resume, "continue the run in --out from its newest checkpoint")
      .in("Records");
  command.options
      .add("patience", fields->patience, "seconds that a process waits for another that does not answer")
      .in("Machine");
  command.options.add("quiet", fields->quiet, "show no progress");
  command.options.add("json", fields->json, "print the summary as JSON");
  command.takes_config = true;
  command.defaults = training_defaults;
  command.run = [fields](const Given& given) {
    check_train(*fields, given);
    return run_train(*fields, given);
  };
  return command;
}

}  // namespace hewn::cli
