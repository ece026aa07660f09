#include "cli/usage/export.h"

#include <iostream>

#include "cli/networks.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/torch/layer_table.h"
#include "cli/training.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/data/inputs/image_files.h"
#include "hewn/deploy/inspect_file.h"
#include "hewn/deploy/smaller/export_int8.h"
#include "hewn/io/source_kind.h"

namespace hewn::cli {
namespace {

io::DType parse_dtype(const std::string& text) {
  if (text == "f32") return io::DType::kF32;
  return text == "bf16" ? io::DType::kBF16 : io::DType::kI8;
}

Json removed_json(const flow::Shrunk& removed) {
  Json layers = Json::array();
  for (const flow::LayerCut& cut : removed.layers) {
    layers.push_back(
        {{"name", valid_utf8(cut.layer)}, {"inputs", cut.inputs.size()}, {"outputs", cut.outputs.size()}});
  }
  return {{"units", removed.units}, {"weights", removed.weights}, {"layers", layers}};
}

void print_removed(const flow::Shrunk& removed) {
  if (removed.units == 0) return;
  std::vector<std::string> layers;
  for (const flow::LayerCut& cut : removed.layers)
    if (!cut.outputs.empty()) layers.push_back(str(plain_text(cut.layer), " (", cut.outputs.size(), ")"));
  std::cout << "left out: " << removed.units << " units that no output depends on, with " << removed.weights
            << " weights: " << join(layers) << '\n';
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
                    {"removed", removed_json(report.removed)},
                    {"layers", layers}}
                   .dump(-1, ' ', false, Json::error_handler_t::replace)
            << '\n';
}

deploy::Trained open_trained(const ExportFields& fields, const Given& given) {
  if (fields.options.init.empty()) return deploy::trained_by({fields.source});
  Terminal terminal(/*quiet=*/false);
  return deploy::trained_elsewhere(run::options_from(training_part(given)), terminal);
}

/// Of a run's own data where none are given.
constexpr int64_t kTrainingSamples = 512;

/// Images are read by the rule of the data that the network was made for, or not at all.
void refuse_unknown_images(const deploy::Trained& trained, const CalibrationFields& fields) {
  const Json& rule = trained.inputs.rule;
  if (rule.is_object() && rule.value("kind", Json()) == "image") return;
  for (const std::string& text : fields.from) {
    const size_t mark = text.find('=');
    const std::string path = mark == std::string::npos ? text : text.substr(mark + 1);
    if (io::kind_of(path) == io::SourceKind::kFolder && !data::find_images(path).images.empty()) {
      throw Error(str("calibration: ", path, " has images, but ", trained.options.data,
                      " does not say how they become inputs; expected .npy files"));
    }
  }
}

/// Batches to find ranges on, and where they are from, in words.
std::pair<deploy::InputBatches, std::string> calibration_of(const deploy::Trained& trained,
                                                            const CalibrationFields& fields) {
  if (fields.from.empty()) {
    Terminal terminal(/*quiet=*/false);
    const int64_t wanted = fields.samples > 0 ? fields.samples : kTrainingSamples;
    deploy::InputBatches batches = deploy::training_inputs(trained, wanted, terminal);
    int64_t samples = 0;
    for (const auto& batch : batches) samples += batch[0].dims()[0];
    return {std::move(batches), str("the first ", samples, " training samples of ", trained.options.data,
                                    " in the order of seed ", trained.options.seed)};
  }
  refuse_unknown_images(trained, fields);
  Calibration read = read_calibration(trained.graph(), trained.inputs.rule, fields, flow::kObservedAtOnce);
  return {std::move(read.batches), read.images.empty() ? join(fields.from) : read.images};
}

void print_sizes(const std::string& file, int64_t bytes, int64_t bytes_dense) {
  std::cout << file << ": " << bytes_text(bytes) << ", "
            << percent(static_cast<double>(bytes) / static_cast<double>(bytes_dense))
            << " of the dense model's " << bytes_text(bytes_dense) << '\n';
}

int run_export_int8(const ExportFields& fields, const deploy::Trained& trained) {
  const auto [batches, from] = calibration_of(trained, fields.calibration);
  const deploy::Int8Export written = deploy::export_int8(trained, fields.to, batches, fields.quantise);
  Json f32 = Json::array();
  for (const flow::QuantisedLayer& layer : written.layers)
    if (!layer.bytes) f32.push_back({{"name", valid_utf8(layer.name)}, {"why", layer.why}});
  if (fields.json) {
    std::cout << Json{{fields.options.init.empty() ? "run" : "init", fields.source},
                      {"file", fields.to},
                      {"dtype", fields.dtype},
                      {"calibration", from},
                      {"bytes", written.bytes},
                      {"bytes_dense", written.bytes_dense},
                      {"removed", removed_json(written.removed)},
                      {"layers", weights_to_json(written.graph, written.block)},
                      {"kept_f32", f32}}
                     .dump(-1, ' ', false, Json::error_handler_t::replace)
              << '\n';
    return 0;
  }
  print_weights(written.graph, written.block);
  std::cout << "calibration: " << from << '\n';
  print_removed(written.removed);
  for (const Json& layer : f32) {
    std::cout << "in 32 bits: " << plain_text(layer["name"].get<std::string>()) << " ("
              << layer["why"].get<std::string>() << ")\n";
  }
  print_sizes(fields.to, written.bytes, written.bytes_dense);
  return 0;
}

}  // namespace

int run_export(ExportFields& fields, const Given& given) {
  const io::DType type = parse_dtype(fields.dtype);
  deploy::check_export_file(fields.to, type);
  if (type == io::DType::kI8) return run_export_int8(fields, open_trained(fields, given));
  const deploy::ExportReport report = deploy::export_trained(open_trained(fields, given), fields.to, type);
  if (fields.json) {
    print_json_export(fields, report);
    return 0;
  }
  print_layers(report.layers);
  print_removed(report.removed);
  print_sizes(fields.to, report.bytes, report.bytes_dense);
  return 0;
}

}  // namespace hewn::cli
