#include "hewn/measure/dense_graph.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/add.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/addmv.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/slice.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <numeric>

#include "hewn/core/error.h"
#include "hewn/measure/dense_conv.h"
#include "hewn/measure/prepared.h"

namespace hewn::measure {
namespace {

using runtime::Node;
using runtime::Op;

bool only_vectors(const runtime::Graph& graph) {
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    return node.op == Op::kInput || node.op == Op::kLinear || node.op == Op::kRelu || node.op == Op::kAdd ||
           node.op == Op::kFlatten || node.op == Op::kEmbedding;
  });
}

/// Samples as the pixels of one image: oneDNN's convolutions are faster than its inner products.
at::Tensor pixels(const at::Tensor& rows) {
  return rows.t().contiguous().view({1, rows.size(1), rows.size(0), 1}).to_mkldnn();
}

}  // namespace

at::Tensor dense_weight(const Node& node, const runtime::Layer& layer) {
  const Grid& grid = layer.pattern.grid;
  const int64_t taps = node.window.taps();
  at::Tensor weight = at::zeros({grid.cols, grid.rows});
  kernels::scatter_blocks(layer.pattern, {grid, taps}, layer.values.data(), weight.data_ptr<float>(), 0,
                          grid.col_blocks());
  if (node.op == Op::kLinear) return weight;
  return weight.view({grid.cols, grid.rows / taps, node.window.kernel_height, node.window.kernel_width});
}

std::vector<DenseGraph::Way> DenseGraph::ways(const runtime::Graph& graph, int64_t batch) {
  if (!only_vectors(graph)) return {Way::kPlain, Way::kChannelsLast, Way::kOneDnn};
  std::vector<Way> out = {Way::kPlain, Way::kTransposed, Way::kOneDnn};
  if (batch == 1) out.insert(out.end(), {Way::kVector, Way::kVectorTransposed});
  return out;
}

DenseGraph::DenseGraph(const runtime::ModelData& model, Way way)
    : way_(way),
      vectors_(only_vectors(model.graph)),
      values_(takes_values(model.graph)),
      uses_(runtime::count_uses(model.graph)) {
  for (const Node& node : model.graph.nodes) {
    Operation operation;
    if (!node.inputs.empty()) operation.a = node.inputs[0];
    if (node.inputs.size() > 1) operation.b = node.inputs[1];
    operation.apply = make(model, node);
    operations_.push_back(std::move(operation));
  }
}

std::string DenseGraph::name() const {
  switch (way_) {
    case Way::kPlain:
      return vectors_ ? "graph, at::linear" : "graph, NCHW";
    case Way::kChannelsLast:
      return "graph, channels last";
    case Way::kOneDnn:
      return vectors_ ? "graph, oneDNN 1x1 convolutions, blocked" : "graph, oneDNN, blocked";
    case Way::kTransposed:
      return "graph, at::addmm, weights transposed before";
    case Way::kVector:
      return "graph, at::addmv";
    case Way::kVectorTransposed:
      return "graph, at::addmv, weights transposed before";
  }
  throw Error("way outside the table");
}

at::Tensor DenseGraph::prepare(const at::Tensor& samples) const {
  if (values_) return samples.flatten(1).to(at::kLong);
  if (way_ == Way::kChannelsLast) return samples.contiguous(at::MemoryFormat::ChannelsLast);
  if (way_ == Way::kVector || way_ == Way::kVectorTransposed) return samples.flatten();
  if (!vectors_) return way_ == Way::kOneDnn ? samples.to_mkldnn() : samples;
  const at::Tensor rows = samples.flatten(1);
  return way_ == Way::kOneDnn ? pixels(rows) : rows;
}

at::Tensor DenseGraph::run(const at::Tensor& prepared) const {
  std::vector<at::Tensor> values(operations_.size());
  std::vector<int32_t> left = uses_;
  values[0] = prepared;
  const auto value = [&](int32_t i) { return i < 0 ? at::Tensor() : values[static_cast<size_t>(i)]; };
  for (size_t i = 1; i < operations_.size(); ++i) {
    const Operation& operation = operations_[i];
    values[i] = operation.apply(value(operation.a), value(operation.b));
    // Memory goes back as early as in a model's forward().
    for (const int32_t in : {operation.a, operation.b}) {
      if (in >= 0 && --left[static_cast<size_t>(in)] == 0) values[static_cast<size_t>(in)].reset();
    }
  }
  at::Tensor out = values.back();
  if (way_ == Way::kVector || way_ == Way::kVectorTransposed) return out.view({1, -1});
  if (way_ == Way::kOneDnn) {
    out = out.to_dense();
    if (vectors_) return out.view({out.size(1), out.size(2)}).t();
  }
  return out.flatten(1);
}

bool DenseGraph::own(const runtime::Graph& graph, int32_t node) const {
  const auto at = static_cast<size_t>(node);
  return uses_[at] == 1 && (has_weight(graph.nodes[at]) || graph.nodes[at].op == Op::kAdd);
}

DenseGraph::Apply DenseGraph::make(const runtime::ModelData& model, const Node& node) const {
  const kernels::ConvGeometry& w = node.window;
  switch (node.op) {
    case Op::kInput:
      return {};
    case Op::kLinear:
    case Op::kConv2d: {
      const runtime::Layer& layer = model.layers.at(node.name);
      const at::Tensor weight = dense_weight(node, layer);
      const at::Tensor bias = at::tensor(layer.bias);
      return node.op == Op::kLinear ? make_linear(weight, bias) : make_conv(weight, bias, w);
    }
    case Op::kRelu:
      if (own(model.graph, node.inputs[0])) {
        return [](at::Tensor x, const at::Tensor&) { return at::relu_(x); };
      }
      return [](const at::Tensor& x, const at::Tensor&) { return at::relu(x); };
    case Op::kAdd:
      if (own(model.graph, node.inputs[0])) {
        return [](const at::Tensor& x, const at::Tensor& y) { return x.add_(y); };
      }
      return [](const at::Tensor& x, const at::Tensor& y) { return at::add(x, y); };
    case Op::kMaxPool:
      return [w](const at::Tensor& x, const at::Tensor&) {
        return at::max_pool2d(x, {w.kernel_height, w.kernel_width}, {w.stride, w.stride},
                              {w.padding, w.padding}, {w.dilation, w.dilation});
      };
    case Op::kGlobalAvgPool:
      return [](const at::Tensor& x, const at::Tensor&) { return at::adaptive_avg_pool2d(x, {1, 1}); };
    case Op::kFlatten:
      if (vectors_) return [](const at::Tensor& x, const at::Tensor&) { return x; };
      return [one_dnn = way_ == Way::kOneDnn](const at::Tensor& x, const at::Tensor&) {
        const at::Tensor plain = one_dnn ? x.to_dense() : x;
        const at::Tensor flat = plain.flatten(1).unsqueeze(2).unsqueeze(3);
        return one_dnn ? flat.to_mkldnn() : flat;
      };
    case Op::kSubsample:
      return make_subsample(node);
    case Op::kEmbedding:
      return make_embedding(node, model.tables.at(node.name));
    case Op::kBatchNorm:
      throw Error(str("layer ", node.name, ": its batch norm was not folded"));
    default:  // the runtime may run more than what it is measured on
      throw Error(str("no dense form of the op ", name_of(node.op), " is known"));
  }
}

DenseGraph::Apply DenseGraph::make_linear(const at::Tensor& weight, const at::Tensor& bias) const {
  if (way_ == Way::kOneDnn) return make_conv(weight.unsqueeze(2).unsqueeze(3), bias, {});
  if (way_ == Way::kTransposed) {
    return [w = weight.t().contiguous(), bias](const at::Tensor& x, const at::Tensor&) {
      return at::addmm(bias, x, w);
    };
  }
  if (way_ == Way::kVector || way_ == Way::kVectorTransposed) {
    const at::Tensor w = way_ == Way::kVector ? weight : weight.t().contiguous().t();
    return [w, bias](const at::Tensor& x, const at::Tensor&) { return at::addmv(bias, w, x); };
  }
  if (vectors_) {
    return [weight, bias](const at::Tensor& x, const at::Tensor&) { return at::linear(x, weight, bias); };
  }
  return [weight, bias](const at::Tensor& x, const at::Tensor&) {
    return at::linear(x.flatten(1), weight, bias).unsqueeze(2).unsqueeze(3);
  };
}

DenseGraph::Apply DenseGraph::make_conv(const at::Tensor& weight, const at::Tensor& bias,
                                        const kernels::ConvGeometry& window) const {
  if (way_ == Way::kOneDnn) {
    return [window, w = one_dnn_filter(weight, window.stride, window.padding, window.dilation),
            b = one_dnn_plain(bias)](const at::Tensor& x, const at::Tensor&) {
      return dense_conv(x, w(), window, b());
    };
  }
  const at::Tensor w =
      way_ == Way::kChannelsLast ? weight.contiguous(at::MemoryFormat::ChannelsLast) : weight;
  return [window, w, bias](const at::Tensor& x, const at::Tensor&) { return dense_conv(x, w, window, bias); };
}

DenseGraph::Apply DenseGraph::make_embedding(const Node& node, const runtime::Table& table) const {
  std::vector<int64_t> first(node.vocabularies.size(), 0);
  std::partial_sum(node.vocabularies.begin(), node.vocabularies.end() - 1, first.begin() + 1);
  const at::Tensor rows = at::tensor(table.values).view({-1, node.width});
  return [rows, first = at::tensor(first), way = way_, vectors = vectors_](const at::Tensor& values,
                                                                           const at::Tensor&) {
    const at::Tensor found = at::embedding(rows, values + first).flatten(1);
    if (way == Way::kVector || way == Way::kVectorTransposed) return found.flatten();
    if (vectors) return way == Way::kOneDnn ? pixels(found) : found;
    const at::Tensor images = found.unsqueeze(2).unsqueeze(3);
    return way == Way::kOneDnn ? images.to_mkldnn() : images;
  };
}

DenseGraph::Apply DenseGraph::make_subsample(const Node& node) const {
  return [stride = node.window.stride, pad = node.pad, one_dnn = way_ == Way::kOneDnn](const at::Tensor& x,
                                                                                       const at::Tensor&) {
    const at::Tensor plain = one_dnn ? x.to_dense() : x;
    const at::Tensor fewer =
        at::slice(at::slice(plain, 2, 0, plain.size(2), stride), 3, 0, plain.size(3), stride);
    const at::Tensor padded = at::constant_pad_nd(fewer, {0, 0, 0, 0, pad[0], pad[1]}, 0);
    return one_dnn ? padded.to_mkldnn() : padded;
  };
}

}  // namespace hewn::measure
