#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/layer_table.h"
#include "cli/report_table.h"
#include "cli/source.h"
#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/deploy/inspect_file.h"
#include "hewn/deploy/inspect_run.h"

namespace hewn::cli {
namespace {

struct InspectFields {
  std::string source;
  bool json = false;
};

void print_file(const deploy::FileReport& report, const std::string& file) {
  if (!report.model.empty()) std::cout << plain_text(report.model);
  if (!report.method.empty()) std::cout << ", " << plain_text(report.method);
  if (!report.weights) {
    std::cout << "; takes " << to_string(report.input) << ", gives " << report.outputs
              << (report.outputs == 1 ? " output" : " outputs");
  }
  if (!report.model.empty() || !report.weights) std::cout << "\n\n";
  print_layers(report.content.layers);
  std::cout << '\n' << file << ": " << bytes_text(report.content.bytes);
  if (report.weights) {
    std::cout << ", " << bytes_text(report.other_bytes) << " of them in vectors and numbers\n";
    if (!report.note.empty()) std::cout << report.note << '\n';
  } else {
    std::cout << "\nclasses: " << (report.classes.empty() ? "not named" : plain_text(join(report.classes)))
              << '\n';
  }
}

int run_inspect(const InspectFields& fields) {
  using io::SourceKind;
  const SourceKind kind =
      source_kind("inspect", fields.source,
                  {SourceKind::kRun, SourceKind::kModel, SourceKind::kWeights, SourceKind::kTorch});
  if (kind == SourceKind::kRun) {
    print_report(deploy::inspect_run({fields.source}), fields.json);
    return 0;
  }
  const deploy::FileReport report = deploy::inspect_file(fields.source);
  if (fields.json) {
    std::cout << deploy::to_json(report, fields.source).dump() << '\n';
  } else {
    print_file(report, fields.source);
  }
  return 0;
}

}  // namespace

Command inspect_command() {
  const auto fields = std::make_shared<InspectFields>();
  Command command;
  command.name = "inspect";
  command.help = "show what a run or a file keeps, layer by layer";
  command.example =
      "hewn inspect runs/fashion-mnist-mlp-auto-b16-s0.9-seed0\n"
      "  hewn inspect model.hewn";
  command.positionals = {
      {"SOURCE", "run folder, model.hewn or weights (.safetensors, .pt)", &fields->source}};
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given&) { return run_inspect(*fields); };
  return command;
}

}  // namespace hewn::cli
