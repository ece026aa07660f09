#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/layer_table.h"
#include "cli/source.h"
#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/deploy/inspect_file.h"

namespace hewn::cli {
namespace {

struct ExportFields {
  std::string run;
  std::string to;
  std::string dtype = "f32";
  bool json = false;
};

io::DType parse_dtype(const std::string& text) {
  if (text == "f32") return io::DType::kF32;
  if (text == "bf16") return io::DType::kBF16;
  throw Error(str("dtype: expected f32 or bf16, got \"", text, "\""));
}

void print_json_export(const ExportFields& fields, const deploy::ExportReport& report) {
  Json layers = Json::array();
  for (const deploy::ExportedLayer& layer : report.layers) layers.push_back(deploy::to_json(layer));
  std::cout << Json{{"run", fields.run},
                    {"file", fields.to},
                    {"dtype", fields.dtype},
                    {"bytes", report.bytes},
                    {"bytes_dense", report.bytes_dense},
                    {"layers", layers}}
                   .dump()
            << '\n';
}

int run_export(const ExportFields& fields) {
  if (fields.to.empty()) throw Error("to: expected --to FILE, for example model.hewn");
  deploy::check_export_file(fields.to);
  source_kind("export", fields.run, {io::SourceKind::kRun});
  const deploy::ExportReport report = deploy::export_run({fields.run}, fields.to, parse_dtype(fields.dtype));
  if (fields.json) {
    print_json_export(fields, report);
    return 0;
  }
  print_layers(report.layers);
  std::cout << fields.to << ": " << bytes_text(report.bytes) << ", "
            << percent(static_cast<double>(report.bytes) / static_cast<double>(report.bytes_dense))
            << " of the dense model's " << bytes_text(report.bytes_dense) << '\n';
  return 0;
}

}  // namespace

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
  command.run = [fields](const Given&) { return run_export(*fields); };
  return command;
}

}  // namespace hewn::cli
