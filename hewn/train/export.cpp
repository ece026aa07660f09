#include "hewn/train/export.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <unistd.h>

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/data/source.h"
#include "hewn/train/inspection.h"
#include "hewn/train/setup.h"
#include "hewn/train/tensor_file.h"

namespace hewn::train {
namespace {

// Rows of a dense layer's blocks: what the kernels take at a time.
constexpr int64_t kDenseRows = 2048;

/// A layer's weight and bias in double precision.
struct Affine {
  at::Tensor weight;
  at::Tensor bias;
};

class Exporter {
 public:
  Exporter(const runtime::Graph& graph, const Weights& weights)
      : graph_(graph), uses_(runtime::count_uses(graph)), weights_(weights) {}

  void run(runtime::ModelData& out) {
    std::vector<int32_t> place(graph_.nodes.size());  // of each node in the new graph
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      runtime::Node node = graph_.nodes[i];
      if (node.op == runtime::Op::kBatchNorm) {
        fold(node);
        place[i] = place[static_cast<size_t>(node.inputs[0])];
        continue;
      }
      if (has_weight(node)) layers_[node.name] = read(node);
      for (int32_t& in : node.inputs) in = place[static_cast<size_t>(in)];
      place[i] = static_cast<int32_t>(out.graph.nodes.size());
      out.graph.nodes.push_back(std::move(node));
    }
    for (const runtime::Node& node : out.graph.nodes) {
      if (has_weight(node)) out.layers[node.name] = blocks(node, layers_.at(node.name));
      if (node.op == runtime::Op::kEmbedding) out.tables[node.name] = table(node);
    }
  }

 private:
  at::Tensor tensor(const std::string& name) const {
    const auto found = weights_.tensors.find(name);
    return found == weights_.tensors.end() ? at::Tensor()
                                           : found->second.detach().to(at::kCPU).to(at::kDouble);
  }

  Affine read(const runtime::Node& node) const {
    Affine layer{tensor(node.name + ".weight"), tensor(node.name + ".bias")};
    if (!layer.weight.defined()) throw Error(hewn::str("layer ", node.name, ": its weight is missing"));
    if (!layer.bias.defined()) layer.bias = at::zeros({node.outputs}, at::kDouble);
    return layer;
  }

  /// May be large: it stays in single precision.
  runtime::Table table(const runtime::Node& node) const {
    const auto found = weights_.tensors.find(node.name + ".weight");
    if (found == weights_.tensors.end())
      throw Error(hewn::str("layer ", node.name, ": its table is missing"));
    const at::Tensor rows = found->second.detach().to(at::kCPU).to(at::kFloat).contiguous();
    if (rows.numel() != table_rows(node) * node.width) {
      throw Error(hewn::str("layer ", node.name, ": its table has another size than its vocabularies"));
    }
    return {{rows.data_ptr<float>(), rows.data_ptr<float>() + rows.numel()}};
  }

  void fold(const runtime::Node& norm) {
    const auto before = static_cast<size_t>(norm.inputs[0]);
    if (!has_weight(graph_.nodes[before]) || uses_[before] != 1) {
      throw Error(hewn::str("layer ", norm.name, ": stands behind no layer of its own to be folded into"));
    }
    const at::Tensor mean = tensor(norm.name + ".running_mean");
    const at::Tensor variance = tensor(norm.name + ".running_var");
    if (!mean.defined() || !variance.defined()) {
      throw Error(hewn::str("layer ", norm.name, ": its running statistics are missing"));
    }
    const at::Tensor weight = tensor(norm.name + ".weight");
    const at::Tensor bias = tensor(norm.name + ".bias");
    at::Tensor scale = (variance + norm.epsilon).rsqrt();
    if (weight.defined()) scale = scale * weight;
    Affine& layer = layers_.at(graph_.nodes[before].name);
    std::vector<int64_t> by_output(static_cast<size_t>(layer.weight.dim()), 1);
    by_output[0] = -1;
    layer.weight = layer.weight * scale.view(by_output);
    layer.bias = (layer.bias - mean) * scale;
    if (bias.defined()) layer.bias = layer.bias + bias;
  }

  /// A few large blocks of nearly equal height.
  static BlockShape dense_block(int64_t rows, int64_t cols) {
    const int64_t pieces = (rows + kDenseRows - 1) / kDenseRows;
    return {(rows + pieces - 1) / pieces, cols};
  }

  runtime::Layer blocks(const runtime::Node& node, const Affine& layer) const {
    const at::Tensor weight = layer.weight.to(at::kFloat).contiguous();
    const int64_t rows = weight.numel() / node.outputs;
    const auto kept = weights_.kept.find(node.name);
    const bool pruned = kept != weights_.kept.end();
    const Grid grid{rows, node.outputs, pruned ? weights_.block : dense_block(rows, node.outputs)};
    std::vector<uint8_t> support(static_cast<size_t>(grid.blocks()), pruned ? 0 : 1);
    for (size_t i = 0; pruned && i < kept->second.size(); ++i) {
      const int64_t block = kept->second[i];
      if (block < 0 || block >= grid.blocks()) {
        throw Error(hewn::str("layer ", node.name, ": kept block ", block, " is outside its grid"));
      }
      support[static_cast<size_t>(block)] = 1;
    }
    runtime::Layer out{kernels::make_pattern(grid, support.data()), {}, {}};
    out.values.resize(static_cast<size_t>(out.pattern.value_floats()));
    kernels::gather_blocks(out.pattern, {grid, node.window.taps()}, weight.data_ptr<float>(), nullptr,
                           out.values.data(), 0, grid.col_blocks());
    const auto zeros = std::count(out.values.begin(), out.values.end(), 0.0F);
    if (weight.count_nonzero().item<int64_t>() != static_cast<int64_t>(out.values.size()) - zeros) {
      throw Error(hewn::str("layer ", node.name, ": has weights outside its kept blocks"));
    }
    const at::Tensor bias = layer.bias.to(at::kFloat).contiguous();
    out.bias.assign(bias.data_ptr<float>(), bias.data_ptr<float>() + bias.numel());
    return out;
  }

  const runtime::Graph& graph_;
  std::vector<int32_t> uses_;
  const Weights& weights_;
  std::map<std::string, Affine> layers_;
};

ExportReport report_on(const runtime::ModelData& model, const Weights& weights, io::DType type) {
  ExportReport report;
  for (const runtime::Node& node : model.graph.nodes) {
    if (node.op == runtime::Op::kEmbedding) {
      const int64_t rows = table_rows(node);
      ExportedLayer row{node.name, {rows, node.width, {rows, node.width}}, 1, false, 0, 0};
      row.bytes = row.grid.elements() * static_cast<int64_t>(io::size_of(type));
      row.bytes_dense = 4 * row.grid.elements();
      report.bytes_dense += row.bytes_dense;
      report.layers.push_back(row);
    }
    if (!has_weight(node)) continue;
    const runtime::Layer& layer = model.layers.at(node.name);
    const kernels::BsrPattern& pattern = layer.pattern;
    ExportedLayer row{node.name, pattern.grid, pattern.kept(), weights.kept.contains(node.name), 0, 0};
    row.bytes = pattern.value_floats() * static_cast<int64_t>(io::size_of(type)) +
                4 * static_cast<int64_t>(pattern.begin.size() + pattern.row.size() + layer.bias.size());
    row.bytes_dense = 4 * (pattern.grid.elements() + static_cast<int64_t>(layer.bias.size()));
    report.bytes_dense += row.bytes_dense;
    report.layers.push_back(row);
  }
  return report;
}

}  // namespace

runtime::Shape image_shape(const std::vector<int64_t>& input) {
  if (input.size() == 3) return {input[0], input[1], input[2]};
  if (input.size() == 1) return {input[0], 1, 1};
  throw Error(hewn::str("inputs of ", input.size(), " dimensions cannot be exported; expected 1 or 3"));
}

runtime::ModelData export_model(const nn::Model& model, const runtime::Shape& input, const Weights& weights) {
  runtime::ModelData out;
  const runtime::Graph graph = model.graph(input);
  Exporter(graph, weights).run(out);
  return out;
}

int64_t file_bytes(const runtime::ModelData& model) {
  // Written and removed: nothing else knows how long names and graph become.
  const auto path = std::filesystem::temp_directory_path() / hewn::str("hewn-size-", getpid(), ".hewn");
  runtime::write_model(path, model);
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(path));
  std::filesystem::remove(path);
  return bytes;
}

ExportedRun exported_run(const RunFolder& run) {
  const TrainOptions options = read_config(run);
  if (!run.finished() || !std::filesystem::exists(run.model())) {
    throw Error(hewn::str(run.path.string(), ": is not finished; finish it with hewn train --resume"));
  }
  const nn::Signature signature = read_signature(run);
  const auto model = build_model(options, signature);
  const TensorFile file = load_tensors(run.model(), /*sealed=*/false);
  copy_into(state_dict(*model), file, "", run.model().string());  // checks names and shapes
  const auto blocks = file.metadata.find("hewn.blocks");
  if (blocks == file.metadata.end()) throw FormatError(run.model().string(), "holds no block structure");
  ExportedRun out{
      {},
      {file.tensors, parse_kept_blocks(blocks->second, run.model().string()), parse_block(options.block)}};
  out.data = export_model(*model, image_shape(signature.input), out.weights);
  out.data.model = options.model;
  const auto method = file.metadata.find("hewn.method");
  out.data.method = method == file.metadata.end() ? "" : method->second;
  return out;
}

ExportReport export_run(const RunFolder& run, const std::filesystem::path& to, io::DType type) {
  const auto [data, weights] = exported_run(run);
  runtime::write_model(to, data, type);
  ExportReport report = report_on(data, weights, type);
  report.bytes = static_cast<int64_t>(std::filesystem::file_size(to));
  return report;
}

}  // namespace hewn::train
