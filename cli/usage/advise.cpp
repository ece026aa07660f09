#include "cli/usage/advise.h"

#include <filesystem>
#include <memory>

#include "cli/training.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"

namespace hewn::cli {

Command advise_command() {
  const auto fields = std::make_shared<AdviseFields>();
  Command command;
  command.name = "advise";
  command.help = "measure which block size and sparsity pay for a model on this machine";
  command.example = "hewn advise mlp --data fashion-mnist --batch 256";
  command.positionals = {{"MODEL", "network (see hewn methods)", &fields->options.model}};
  command.options = run::describe(fields->options)
                        .pick({"data", "batch", "threads", "min-blocks", "widths", "width", "block"});
  command.options.add("costs", fields->costs,
                      "time every layer at one --block and write this file, for hewn train --budget ms=...");
  command.options.add("quick", fields->quick, "fewer points, one round each");
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given& given) {
    check_known(fields->options.model, fields->options.data);
    if (fields->costs.empty() && given.contains("block"))
      throw Error("block: advise tries several by itself; one is chosen for --costs alone");
    if (!fields->costs.empty()) {
      const std::filesystem::path folder = std::filesystem::path(fields->costs).parent_path();
      make_writable_folder(folder.empty() ? "." : folder);
    }
    return run_advise(*fields, given);
  };
  return command;
}

}  // namespace hewn::cli
