#include "cli/usage/export.h"

#include <memory>

#include "cli/source.h"
#include "hewn/core/error.h"

namespace hewn::cli {

Command export_command() {
  const auto fields = std::make_shared<ExportFields>();
  Command command;
  command.name = "export";
  command.help = "write a run's model as a file for the runtime, or for other programs";
  command.example = "hewn export runs/fashion-mnist-mlp-auto-b16-s0.9-seed0 --to model.hewn";
  command.positionals = {{"SOURCE", "folder of a finished run", &fields->run}};
  command.options.add("to", fields->to,
                      "file to write; its suffix is the format: .hewn, .safetensors or .pt");
  command.options.add("dtype", fields->dtype, "type of the weights in a .hewn file: f32 or bf16");
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given& given) {
    if (fields->to.empty()) throw Error("to: expected --to FILE, for example model.hewn");
    source_kind("export", fields->run, {io::SourceKind::kRun});
    return run_export(*fields, given);
  };
  return command;
}

}  // namespace hewn::cli
