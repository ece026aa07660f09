#include <memory>

#include "cli/command.h"
#include "cli/report_table.h"

namespace hewn::cli {
namespace {

struct Fields {
  std::string run;
  bool json = false;
};

}  // namespace

Command inspect_command() {
  const auto fields = std::make_shared<Fields>();
  Command command;
  command.name = "inspect";
  command.help = "show what a run kept, layer by layer";
  command.example = "hewn inspect runs/fashion-mnist-mlp-auto-b16-s0.9-seed0";
  command.positionals = {{"RUN", "run folder", &fields->run}};
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given&) {
    print_report(train::inspect_run({fields->run}), fields->json);
    return 0;
  };
  return command;
}

}  // namespace hewn::cli
