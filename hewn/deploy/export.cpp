#include "hewn/deploy/export.h"

#include <ATen/TensorOperators.h>
#include <unistd.h>

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/suffix.h"
#include "hewn/deploy/smaller/shrink.h"
#include "hewn/flow/bf16/halve.h"
#include "hewn/flow/model_file.h"
#include "hewn/nn/slots.h"
#include "hewn/onnx/export.h"
#include "hewn/runtime/preprocessing.h"
#include "hewn/save.h"

namespace hewn::deploy {
namespace {

const std::string kHewnSuffix = ".hewn";

const std::string kOnnxSuffix = ".onnx";

/// All formats but that of kept blocks.
void write_whole(const Trained& trained, const std::filesystem::path& to, io::DType type,
                 flow::Shrunk& removed) {
  const std::string suffix = to.extension().string();
  const auto graph = [&] {
    flow::Graph whole = trained.graph();
    removed = flow::shrink(whole, shrink_unit(trained.weights.blocks));
    return whole;
  };
  if (suffix == kHewnSuffix) {
    std::map<std::string, io::TensorView> beside;
    runtime::add_arrays(trained.inputs.arrays, beside);
    flow::Graph whole = graph();
    if (type == io::DType::kBF16) flow::to_bf16(whole, {});
    return flow::write_flow_model(to, whole, trained.metadata(), beside);
  }
  if (suffix == kOnnxSuffix) {
    const bool text = trained.signature.takes == nn::Takes::kText;
    std::vector<std::string> axes = {"batch"};
    if (text) axes.emplace_back("length");
    return onnx::write_onnx(to, graph(), {axes, trained.metadata()});
  }
  if (suffix != ".safetensors") return tensor::save_torch(to, trained.weights.tensors);
  if (trained.from_run) return write_file_atomically(to, read_file(trained.file));
  save(*trained.model, trained.weights.blocks, to);
}

/// The prunable layers of a network by its weights alone. `bytes_dense` of the whole is that of all tensors.
ExportReport report_on_weights(const Trained& trained) {
  ExportReport report;
  for (const prune::WeightShape& shape : nn::weight_shapes(nn::find_slots(*trained.model))) {
    const auto pruned = trained.weights.blocks.find(shape.name);
    Grid grid = shape.grid;
    grid.block = {grid.rows, grid.cols};
    if (pruned != trained.weights.blocks.end()) grid = pruned->second.grid();
    const int64_t bytes = 4 * (grid.elements() + grid.cols);
    ExportedLayer row{shape.name, grid, grid.blocks(), false, bytes, bytes};
    if (pruned != trained.weights.blocks.end()) {
      row.kept = pruned->second.kept();
      // A file of general tensors holds what is not zero, and a bit for each place.
      row.bytes = std::min(bytes, 4 * (pruned->second.elements() + grid.cols) + grid.elements() / 8);
    }
    report.layers.push_back(row);
  }
  for (const auto& [name, tensor] : trained.weights.tensors) {
    if (tensor.is_floating_point()) report.bytes_dense += 4 * tensor.numel();
  }
  return report;
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

runtime::ModelData exported_run(const run::Folder& run) { return trained_by(run).data(); }

void check_export_file(const std::filesystem::path& to, io::DType type) {
  known_suffix("to", to, {kHewnSuffix, kOnnxSuffix, ".safetensors", ".pt", ".pth"});
  if (to.extension() != kHewnSuffix && type != io::DType::kF32) {
    throw Error(hewn::str("dtype: applies to ", kHewnSuffix, " files only, got ", to.string()));
  }
  if (to.extension() == kOnnxSuffix) onnx::require_onnx();
}

ExportReport export_trained(const Trained& trained, const std::filesystem::path& to, io::DType type) {
  check_export_file(to, type);
  // Networks with attention are known as graphs of general tensors alone.
  const bool general = trained.model->flow_graph().has_value();
  const bool blocks_only = !general && to.extension() == kHewnSuffix;
  ExportReport report;
  if (general) {
    report = report_on_weights(trained);
  } else {
    runtime::ModelData data = trained.data();
    report = report_on(data, type);
    if (blocks_only) {
      const int64_t before = report.bytes_dense;
      const flow::Shrunk removed = shrink(data, trained.signature.input, trained.weights.blocks);
      runtime::write_model(to, data, type);
      report = report_on(data, type);
      report.bytes_dense = before;
      report.removed = removed;
    }
  }
  if (!blocks_only) write_whole(trained, to, type, report.removed);
  for (ExportedLayer& layer : report.layers) {
    layer.pruned = trained.weights.blocks.contains(layer.name);
    if (to.extension() != kHewnSuffix) layer.bytes = layer.bytes_dense;  // dropped blocks are there as zeros
  }
  report.bytes = static_cast<int64_t>(std::filesystem::file_size(to));
  return report;
}

ExportReport export_run(const run::Folder& run, const std::filesystem::path& to, io::DType type) {
  check_export_file(to, type);
  return export_trained(trained_by(run), to, type);
}

}  // namespace hewn::deploy
