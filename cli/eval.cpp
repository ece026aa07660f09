#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/table.h"
#include "hewn/train/job.h"

namespace hewn::cli {
namespace {

struct Fields {
  std::string run;
  std::string data;
  std::string device = "cpu";
  int64_t threads = 0;
  bool json = false;
};

int run(const Fields& fields) {
  const train::Metrics metrics =
      train::evaluate_run({fields.run}, fields.data, fields.device, fields.threads);
  if (fields.json) {
    std::cout << Json{{"run", fields.run}, {"metrics", metrics}}.dump() << '\n';
    return 0;
  }
  for (const auto& [name, value] : metrics)
    std::cout << "test " << name << ": " << metric_text(name, value) << '\n';
  return 0;
}

}  // namespace

Command eval_command() {
  const auto fields = std::make_shared<Fields>();
  Command command;
  command.name = "eval";
  command.help = "evaluate a run's model on its test set";
  command.example = "hewn eval runs/fashion-mnist-mlp-auto-b16-s0.9-seed0 --json";
  command.positionals = {{"RUN", "run folder", &fields->run}};
  command.options.add("data", fields->data, "other data, NAME:PATH");
  command.options.add("device", fields->device, "cpu, cuda or cuda:N");
  command.options.add("threads", fields->threads, "CPU threads; 0: all cores");
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given&) { return run(*fields); };
  return command;
}

}  // namespace hewn::cli
