#include "cli/usage/advise.h"

#include <memory>

#include "cli/training.h"

namespace hewn::cli {

Command advise_command() {
  const auto fields = std::make_shared<AdviseFields>();
  Command command;
  command.name = "advise";
  command.help = "measure which block size and sparsity pay for a model on this machine";
  command.example = "hewn advise mlp --data fashion-mnist --batch 256";
  command.positionals = {{"MODEL", "network (see hewn methods)", &fields->options.model}};
  command.options =
      run::describe(fields->options).pick({"data", "batch", "threads", "min-blocks", "widths", "width"});
  command.options.add("quick", fields->quick, "fewer points, one round each");
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given& given) {
    check_known(fields->options.model, fields->options.data);
    return run_advise(*fields, given);
  };
  return command;
}

}  // namespace hewn::cli
