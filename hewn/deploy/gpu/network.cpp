#include "hewn/deploy/gpu/network.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/add.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/slice.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <numeric>

#include "hewn/core/error.h"

namespace hewn::deploy {
namespace {

using runtime::Node;
using runtime::Op;

bool reads_pixels(const runtime::Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    return node.op == Op::kConv2d || node.op == Op::kMaxPool || node.op == Op::kGlobalAvgPool;
  });
}

/// Where some layers read pixels a vector is an image of one.
at::Tensor handed_on(const at::Tensor& rows, bool images) {
  return images ? rows.unsqueeze(2).unsqueeze(3) : rows;
}

at::Tensor subsampled(const Node& node, const at::Tensor& x) {
  const int64_t stride = node.window.stride;
  const at::Tensor fewer = at::slice(at::slice(x, 2, 0, x.size(2), stride), 3, 0, x.size(3), stride);
  return at::constant_pad_nd(fewer, {0, 0, 0, 0, node.pad[0], node.pad[1]}, 0);
}

}  // namespace

FusedNetwork::FusedNetwork(const runtime::ModelData& model, const FusedOptions& options)
    : options_(options),
      values_(takes_values(model.graph)),
      images_(reads_pixels(model.graph)),
      steps_(fuse(model.graph)),
      uses_(count_uses(steps_)) {
  for (const FusedStep& step : steps_) apply_.push_back(make(model, step));
}

at::Tensor FusedNetwork::prepare(const at::Tensor& samples) const {
  if (values_) return samples.flatten(1).to(options_.device, at::kLong);
  const at::Tensor own = samples.to(options_.device, options_.type);
  return images_ ? own.contiguous(at::MemoryFormat::ChannelsLast) : own;
}

at::Tensor FusedNetwork::run(const at::Tensor& prepared) const {
  std::vector<at::Tensor> results(steps_.size());
  std::vector<int32_t> left = uses_;
  results[0] = prepared;
  for (size_t i = 1; i < steps_.size(); ++i) {
    std::vector<int32_t> in = steps_[i].inputs;
    if (steps_[i].residual >= 0) in.push_back(steps_[i].residual);
    const auto operand = [&](size_t k) {
      return k < in.size() ? results[static_cast<size_t>(in[k])] : at::Tensor();
    };
    results[i] = apply_[i](operand(0), operand(1));
    for (const int32_t read : in) {
      if (--left[static_cast<size_t>(read)] == 0) results[static_cast<size_t>(read)].reset();
    }
  }
  return results.back().flatten(1);
}

FusedNetwork::Apply FusedNetwork::make(const runtime::ModelData& model, const FusedStep& step) {
  const Node& node = model.graph.nodes[static_cast<size_t>(step.node)];
  const kernels::ConvGeometry& w = node.window;
  switch (node.op) {
    case Op::kInput:
      return {};
    case Op::kLinear:
    case Op::kConv2d:
      return make_weighted(model, step);
    case Op::kRelu:
      return [](const at::Tensor& x, const at::Tensor&) { return at::relu(x); };
    case Op::kAdd:
      return [relu = step.relu](const at::Tensor& x, const at::Tensor& y) {
        at::Tensor sum = at::add(x, y);
        return relu ? sum.relu_() : sum;
      };
    case Op::kMaxPool:
      return [w](const at::Tensor& x, const at::Tensor&) {
        return at::max_pool2d(x, {w.kernel_height, w.kernel_width}, {w.stride, w.stride},
                              {w.padding, w.padding}, {w.dilation, w.dilation});
      };
    case Op::kGlobalAvgPool:
      return [](const at::Tensor& x, const at::Tensor&) { return at::adaptive_avg_pool2d(x, {1, 1}); };
    case Op::kFlatten:
      return [images = images_](const at::Tensor& x, const at::Tensor&) {
        return handed_on(x.flatten(1), images);
      };
    case Op::kSubsample:
      return [node](const at::Tensor& x, const at::Tensor&) { return subsampled(node, x); };
    case Op::kEmbedding:
      return make_embedding(node, model.tables.at(node.name));
    case Op::kBatchNorm:
      throw Error(str("layer ", node.name, ": its batch norm was not folded"));
  }
  throw Error("operator outside the table");
}

FusedNetwork::Apply FusedNetwork::make_weighted(const runtime::ModelData& model, const FusedStep& step) {
  const Node& node = model.graph.nodes[static_cast<size_t>(step.node)];
  const FusedLayer layer =
      make_layer(node, model.layers.at(node.name), {step.relu, step.residual >= 0}, options_);
  if (layer.on_kept_blocks) on_kept_blocks_.push_back(node.name);
  if (node.op == Op::kConv2d) return layer.run;
  return [run = layer.run, images = images_](const at::Tensor& x, const at::Tensor& residual) {
    return handed_on(run(x.flatten(1), residual.defined() ? residual.flatten(1) : residual), images);
  };
}

FusedNetwork::Apply FusedNetwork::make_embedding(const Node& node, const runtime::Table& table) const {
  std::vector<int64_t> first(node.vocabularies.size(), 0);
  std::partial_sum(node.vocabularies.begin(), node.vocabularies.end() - 1, first.begin() + 1);
  const at::Tensor rows = at::tensor(table.values).view({-1, node.width}).to(options_.device, options_.type);
  return [rows, first = at::tensor(first).to(options_.device), images = images_](const at::Tensor& values,
                                                                                 const at::Tensor&) {
    return handed_on(at::embedding(rows, values + first).flatten(1), images);
  };
}

}  // namespace hewn::deploy
