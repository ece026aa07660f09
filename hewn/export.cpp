#include "hewn/export.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/save.h"
#include "hewn/tensor/state_dict.h"

namespace hewn {
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
      : graph_(graph),
        shapes_(runtime::infer_shapes(graph, {})),
        uses_(runtime::count_uses(graph)),
        weights_(weights) {}

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
    if (!layer.weight.defined()) throw Error(str("layer ", node.name, ": its weight is missing"));
    const int64_t inputs = shapes_[static_cast<size_t>(node.inputs[0])].channels;
    const std::vector<int64_t> wanted =
        node.op == runtime::Op::kConv2d
            ? std::vector{node.outputs, inputs, node.window.kernel_height, node.window.kernel_width}
            : std::vector{node.outputs, inputs};
    require_shape(node.name + ".weight", layer.weight, wanted);
    if (!layer.bias.defined()) layer.bias = at::zeros({node.outputs}, at::kDouble);
    require_shape(node.name + ".bias", layer.bias, {node.outputs});
    return layer;
  }

  static void require_shape(const std::string& name, const at::Tensor& tensor,
                            const std::vector<int64_t>& wanted) {
    if (tensor.sizes() == at::IntArrayRef(wanted)) return;
    throw Error(hewn::str("tensor ", name, " is ", tensor.sizes(), ", but the graph asks for ",
                          at::IntArrayRef(wanted)));
  }

  /// May be large: it stays in single precision.
  runtime::Table table(const runtime::Node& node) const {
    const auto found = weights_.tensors.find(node.name + ".weight");
    if (found == weights_.tensors.end()) throw Error(str("layer ", node.name, ": its table is missing"));
    const at::Tensor rows = found->second.detach().to(at::kCPU).to(at::kFloat).contiguous();
    if (rows.numel() != table_rows(node) * node.width) {
      throw Error(str("layer ", node.name, ": its table has another size than its vocabularies"));
    }
    return {{rows.data_ptr<float>(), rows.data_ptr<float>() + rows.numel()}};
  }

  void fold(const runtime::Node& norm) {
    const auto before = static_cast<size_t>(norm.inputs[0]);
    if (!has_weight(graph_.nodes[before]) || uses_[before] != 1) {
      throw Error(str("layer ", norm.name, ": stands behind no layer of its own to be folded into"));
    }
    const at::Tensor mean = tensor(norm.name + ".running_mean");
    const at::Tensor variance = tensor(norm.name + ".running_var");
    if (!mean.defined() || !variance.defined()) {
      throw Error(str("layer ", norm.name, ": its running statistics are missing"));
    }
    const at::Tensor weight = tensor(norm.name + ".weight");
    const at::Tensor bias = tensor(norm.name + ".bias");
    const int64_t channels = graph_.nodes[before].outputs;
    for (const char* part : {".running_mean", ".running_var", ".weight", ".bias"}) {
      const at::Tensor own = tensor(norm.name + part);
      if (own.defined()) require_shape(norm.name + part, own, {channels});
    }
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
    const auto pruned = weights_.blocks.find(node.name);
    const LayerBlocks kept = pruned == weights_.blocks.end()
                                 ? LayerBlocks::all_of({rows, node.outputs, dense_block(rows, node.outputs)})
                                 : pruned->second;
    check_zeros(node.name, weight, kept);  // and that it is of this weight
    const Grid& grid = kept.grid();
    runtime::Layer out{kernels::make_pattern(grid, kept.flags().data()), {}, {}};
    out.values.resize(static_cast<size_t>(out.pattern.value_floats()));
    kernels::gather_blocks(out.pattern, {grid, node.window.taps()}, weight.data_ptr<float>(), nullptr,
                           out.values.data(), 0, grid.col_blocks());
    const at::Tensor bias = layer.bias.to(at::kFloat).contiguous();
    out.bias.assign(bias.data_ptr<float>(), bias.data_ptr<float>() + bias.numel());
    return out;
  }

  const runtime::Graph& graph_;
  std::vector<runtime::Shape> shapes_;
  std::vector<int32_t> uses_;
  const Weights& weights_;
  std::map<std::string, Affine> layers_;
};

}  // namespace

runtime::ModelData export_model(const runtime::Graph& graph, const Weights& weights) {
  runtime::ModelData out;
  Exporter(graph, weights).run(out);
  return out;
}

runtime::ModelData export_model(const torch::nn::Module& module, const runtime::Graph& graph,
                                const Blocks& blocks) {
  return export_model(graph, {tensor::state_dict(module), blocks});
}

}  // namespace hewn
