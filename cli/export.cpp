#include "hewn/train/export.h"

#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"

namespace hewn::cli {
namespace {

struct Fields {
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

void print_json(const Fields& fields, const train::ExportReport& report) {
  Json layers = Json::array();
  for (const train::ExportedLayer& layer : report.layers) {
    layers.push_back({{"name", layer.name},
                      {"inputs", layer.grid.rows},
                      {"outputs", layer.grid.cols},
                      {"pruned", layer.pruned},
                      {"block", {layer.grid.block.rows, layer.grid.block.cols}},
                      {"blocks", layer.grid.blocks()},
                      {"kept", layer.kept},
                      {"bytes", layer.bytes},
                      {"bytes_dense", layer.bytes_dense}});
  }
  std::cout << Json{{"run", fields.run},
                    {"file", fields.to},
                    {"dtype", fields.dtype},
                    {"bytes", report.bytes},
                    {"bytes_dense", report.bytes_dense},
                    {"layers", layers}}
                   .dump()
            << '\n';
}

int run(const Fields& fields) {
  if (fields.to.empty()) throw Error("to: expected --to FILE, for example model.hewn");
  const train::ExportReport report = train::export_run({fields.run}, fields.to, parse_dtype(fields.dtype));
  if (fields.json) {
    print_json(fields, report);
    return 0;
  }
  std::vector<std::vector<std::string>> rows = {
      {"layer", "inputs", "outputs", "block", "kept", "bytes", "dense"}};
  for (const train::ExportedLayer& layer : report.layers) {
    rows.push_back({layer.name, str(layer.grid.rows), str(layer.grid.cols),
                    layer.pruned ? to_string(layer.grid.block) : "dense",
                    str(layer.kept, " of ", layer.grid.blocks()), bytes_text(layer.bytes),
                    bytes_text(layer.bytes_dense)});
  }
  print_table(std::cout, rows, {false, true, true, true, true, true, true});
  std::cout << fields.to << ": " << bytes_text(report.bytes) << ", "
            << percent(static_cast<double>(report.bytes) / static_cast<double>(report.bytes_dense))
            << " of the dense model's " << bytes_text(report.bytes_dense) << '\n';
  return 0;
}

}  // namespace

Command export_command() {
  const auto fields = std::make_shared<Fields>();
  Command command;
  command.name = "export";
  command.help = "write a run's model as a file for the runtime, without LibTorch";
  command.example = "hewn export runs/fashion-mnist-mlp-auto-b16-s0.9-seed0 --to model.hewn";
  command.positionals = {{"RUN", "run folder", &fields->run}};
  command.options.add("to", fields->to, "file to write");
  command.options.add("dtype", fields->dtype, "type of the weights in the file: f32 or bf16");
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given&) { return run(*fields); };
  return command;
}

}  // namespace hewn::cli
