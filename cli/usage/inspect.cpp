#include "cli/usage/inspect.h"

#include <memory>

#include "cli/networks.h"
#include "cli/source.h"

namespace hewn::cli {

Command inspect_command() {
  const auto fields = std::make_shared<InspectFields>();
  Command command;
  command.name = "inspect";
  command.help = "show what a run or a file keeps, layer by layer";
  command.example =
      "hewn inspect runs/fashion-mnist-mlp-auto-b16-s0.9-seed0\n"
      "  hewn inspect model.hewn";
  command.positionals = {
      {"SOURCE", "run folder, model.hewn, ONNX file or weights (.safetensors, .pt)", &fields->source}};
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given& given) {
    if (is_network(fields->source)) return run_inspect_network(fields->source, fields->json);
    using io::SourceKind;
    fields->kind =
        source_kind("inspect", fields->source,
                    {SourceKind::kRun, SourceKind::kModel, SourceKind::kWeights, SourceKind::kTorch});
    return run_inspect(*fields, given);
  };
  return command;
}

}  // namespace hewn::cli
