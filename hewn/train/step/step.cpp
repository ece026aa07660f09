#include "hewn/train/step/step.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "hewn/nn/slots.h"

namespace hewn::train {
namespace {

std::unique_ptr<dist::GradientAverage> gradients_of(const StepParts& parts) {
  std::vector<at::Tensor> leaves;
  std::vector<at::Tensor> tables;
  for (const at::Tensor& parameter : parts.model.parameters()) {
    (nn::is_embedding(parts.model, parameter) ? tables : leaves).push_back(parameter);
  }
  for (const auto& layer : parts.pruner.algorithm().layers()) {
    for (const auto& parameter : layer.score->parameters()) leaves.push_back(parameter.tensor);
  }
  return std::make_unique<dist::GradientAverage>(leaves, tables, parts.group);
}

/// Several backward passes leave the same row of a table several times; the optimiser wants it once.
void merge_rows(nn::Model& model) {
  for (at::Tensor& parameter : model.parameters()) {
    if (nn::is_embedding(model, parameter)) parameter.mutable_grad() = parameter.grad().coalesce();
  }
}

bool has_embeddings(const nn::Model& model) {
  for (const at::Tensor& parameter : model.parameters()) {
    if (nn::is_embedding(model, parameter)) return true;
  }
  return false;
}

/// What in these steps keeps them from being recorded; nothing where they can be. Averaging over processes
/// and counting the rows of tables need the CPU in between.
std::string find_obstacle(const StepParts& parts) {
  if (!StepGraph::available()) return "this build has no CUDA kernels";
  if (!parts.group->place().alone()) return "several processes average their gradients";
  if (has_embeddings(parts.model)) return "the network has embeddings";
  if (!parts.optimiser.recordable()) return "logits of a layer share their second moment";
  return "";
}

/// Steps that queue the same work have the same kind: without supports, or with the same layers on the same
/// share of their blocks. (FNV-1a over what differs.)
int64_t kind_of(const prune::Pruner& pruner) {
  const auto& layers = pruner.layers();
  if (layers.empty() || !layers.front().support.defined()) return 0;
  uint64_t kind = 0xCBF29CE484222325;
  for (const auto& layer : layers) {
    kind ^= layer.kept == nullptr ? 0 : 1 + static_cast<uint64_t>(layer.kept->density * 1e6);
    kind *= 0x100000001B3;
  }
  return static_cast<int64_t>(kind | 1);
}

}  // namespace

Step::Step(const StepParts& parts, const StepOptions& options) : parts_(parts), options_(options) {
  if (!parts.group->place().alone()) gradients_ = gradients_of(parts);
  if (options.graphs && parts.model.parameters().front().is_cuda()) {
    obstacle_ = find_obstacle(parts);
    if (obstacle_.empty()) graph_ = std::make_unique<StepGraph>();
  }
  parts.pruner.algorithm().show_bf16(options.precision == Precision::kBf16);
  const auto device = at::TensorOptions().device(parts.model.parameters().front().device());
  loss_ = at::zeros({}, device.dtype(at::kFloat));
  correct_ = at::zeros({}, device.dtype(at::kLong));
}

void Step::run(const data::Batch& batch, double lr) {
  parts_.optimiser.begin_step(lr);
  if (graph_ == nullptr || parts_.pruner.algorithm().listens()) {
    work(batch);
    return;
  }
  graph_->run(kind_of(parts_.pruner.algorithm()), batch, [this](const data::Batch& part) { work(part); });
}

void Step::work(const data::Batch& batch) {
  parts_.optimiser.zero_grad();
  compute_gradients(batch);
  parts_.optimiser.apply();
}

/// Everything is queued whatever the values are, the teacher's forward pass too: it can be recorded.
/// In parts, where the whole batch is too much at once: their gradients add up.
void Step::compute_gradients(const data::Batch& batch) {
  const int64_t rows = batch.target.size(0);
  const int64_t parts = std::min(options_.accumulate, rows);
  loss_.zero_();
  correct_.zero_();
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t begin = rows * i / parts;
    const int64_t count = rows * (i + 1) / parts - begin;
    const at::Tensor input = batch.input.narrow(0, begin, count);
    const at::Tensor target = batch.target.narrow(0, begin, count);
    parts_.pruner.show();  // the graph of the gates goes with each backward pass
    at::Tensor output;
    at::Tensor loss;
    {
      const Autocast autocast(options_.precision, target.device());
      // First, so that what it needs for that is free again when the forward pass fills the memory.
      const at::Tensor answer = options_.teacher ? options_.teacher->answer(input) : at::Tensor();
      output = parts_.model.forward(input);
      loss = options_.task->loss(output, target);
      if (options_.teacher) loss = options_.teacher->loss(*options_.task, loss, output, answer);
    }
    if (parts > 1) loss = loss * (static_cast<double>(count) / static_cast<double>(rows));
    if (gradients_ && i + 1 == parts) gradients_->start();
    loss.backward();
    loss_ += loss.detach();
    correct_ += options_.task->correct(output.detach(), target);
  }
  if (parts > 1) merge_rows(parts_.model);
  if (gradients_) gradients_->finish();
}

}  // namespace hewn::train
