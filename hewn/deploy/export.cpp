#include "hewn/deploy/export.h"

#include <ATen/TensorOperators.h>
#include <unistd.h>

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/suffix.h"
#include "hewn/core/text.h"
#include "hewn/deploy/finished_run.h"
#include "hewn/runtime/preprocessing.h"

namespace hewn::deploy {
namespace {

const std::string kHewnSuffix = ".hewn";

void write_weights(const run::Folder& run, const Weights& weights, const std::filesystem::path& to) {
  if (to.extension() == ".safetensors") {
    write_file_atomically(to, read_file(run.model()));
  } else {
    tensor::save_torch(to, weights.tensors);
  }
}

}  // namespace

ExportReport report_on(const runtime::ModelData& model, std::optional<io::DType> type) {
  ExportReport report;
  const auto value_bytes = [&](bool bf16) {
    return static_cast<int64_t>(io::size_of(type.value_or(bf16 ? io::DType::kBF16 : io::DType::kF32)));
  };
  for (const runtime::Node& node : model.graph.nodes) {
    if (node.op == runtime::Op::kEmbedding) {
      const int64_t rows = table_rows(node);
      ExportedLayer row{node.name, {rows, node.width, {rows, node.width}}, 1, false, 0, 0};
      row.bytes = row.grid.elements() * value_bytes(model.tables.at(node.name).bf16);
      row.bytes_dense = 4 * row.grid.elements();
      report.bytes_dense += row.bytes_dense;
      report.layers.push_back(row);
    }
    if (!has_weight(node)) continue;
    const runtime::Layer& layer = model.layers.at(node.name);
    const kernels::BsrPattern& pattern = layer.pattern;
    const int64_t kept = pattern.kept();
    ExportedLayer row{node.name, pattern.grid, kept, kept < pattern.grid.blocks(), 0, 0};
    row.bytes = pattern.value_floats() * value_bytes(layer.bf16) +
                4 * static_cast<int64_t>(pattern.begin.size() + pattern.row.size() + layer.bias.size());
    row.bytes_dense = 4 * (pattern.grid.elements() + static_cast<int64_t>(layer.bias.size()));
    report.bytes_dense += row.bytes_dense;
    report.layers.push_back(row);
  }
  return report;
}

runtime::Shape image_shape(const std::vector<int64_t>& input) {
  if (input.size() == 3) return {input[0], input[1], input[2]};
  if (input.size() == 1) return {input[0], 1, 1};
  throw Error(hewn::str("inputs of ", input.size(), " dimensions cannot be exported; expected 1 or 3"));
}

int64_t file_bytes(const runtime::ModelData& model) {
  // Written and removed: nothing else knows how long names and graph become.
  const auto path = std::filesystem::temp_directory_path() / hewn::str("hewn-size-", getpid(), ".hewn");
  runtime::write_model(path, model);
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(path));
  std::filesystem::remove(path);
  return bytes;
}

ExportedRun exported_run(const run::Folder& folder) {
  const FinishedRun run = FinishedRun::open(folder);
  ExportedRun out{{}, {run.file.tensors, run.blocks}};
  out.data = export_model(run.model->graph(image_shape(run.config.signature.input)), out.weights);
  out.data.model = run.config.options.model;
  const auto method = run.file.metadata.find("hewn.method");
  out.data.method = method == run.file.metadata.end() ? "" : method->second;
  if (is_there(folder.inputs())) {
    Preprocessing inputs = runtime::read_preprocessing(folder.inputs(), run.config.signature.outputs);
    out.data.classes = std::move(inputs.classes);
    out.data.preprocessing = std::move(inputs.rule);
    out.data.arrays = std::move(inputs.arrays);
  }
  return out;
}

void check_export_file(const std::filesystem::path& to) {
  const std::string suffix = to.extension().string();
  const std::vector<std::string> written = {kHewnSuffix, ".safetensors", ".pt", ".pth"};
  if (suffix == ".onnx") {
    throw Error(hewn::str("to: this version does not write ", suffix, " files, only ", join(written), ": ",
                          to.string()));
  }
  known_suffix("to", to, written);
}

ExportReport export_run(const run::Folder& run, const std::filesystem::path& to, io::DType type) {
  check_export_file(to);
  const bool weights_only = to.extension() != kHewnSuffix;
  if (weights_only && type != io::DType::kF32) {
    throw Error(hewn::str("dtype: applies to ", kHewnSuffix, " files only, got ", to.string()));
  }
  const auto [data, weights] = exported_run(run);
  if (weights_only) {
    write_weights(run, weights, to);
  } else {
    runtime::write_model(to, data, type);
  }
  ExportReport report = report_on(data, type);
  for (ExportedLayer& layer : report.layers) {
    layer.pruned = weights.blocks.contains(layer.name);
    if (weights_only) layer.bytes = layer.bytes_dense;  // dropped blocks are there as zeros
  }
  report.bytes = static_cast<int64_t>(std::filesystem::file_size(to));
  return report;
}

}  // namespace hewn::deploy
