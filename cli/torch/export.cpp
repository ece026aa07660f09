#include "cli/usage/export.h"

#include <iostream>

#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/torch/layer_table.h"
#include "cli/training.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/deploy/inspect_file.h"

namespace hewn::cli {
namespace {

io::DType parse_dtype(const std::string& text) {
  if (text == "f32") return io::DType::kF32;
  if (text == "bf16") return io::DType::kBF16;
  throw Error(str("dtype: expected f32 or bf16, got \"", text, "\""));
}

void print_json_export(const ExportFields& fields, const deploy::ExportReport& report) {
  Json layers = Json::array();
  for (const deploy::ExportedLayer& layer : report.layers) layers.push_back(deploy::to_json(layer));
  const bool run = fields.options.init.empty();
  std::cout << Json{{run ? "run" : "init", fields.source},
                    {"file", fields.to},
                    {"dtype", fields.dtype},
                    {"bytes", report.bytes},
                    {"bytes_dense", report.bytes_dense},
                    {"layers", layers}}
                   .dump(-1, ' ', false, Json::error_handler_t::replace)
            << '\n';
}

deploy::Trained open_trained(const ExportFields& fields, const Given& given) {
  if (fields.options.init.empty()) return deploy::trained_by({fields.source});
  Terminal terminal(/*quiet=*/false);
  return deploy::trained_elsewhere(run::options_from(training_part(given)), terminal);
}

}  // namespace

int run_export(ExportFields& fields, const Given& given) {
  const io::DType type = parse_dtype(fields.dtype);
  deploy::check_export_file(fields.to, type);
  const deploy::ExportReport report = deploy::export_trained(open_trained(fields, given), fields.to, type);
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

}  // namespace hewn::cli
