#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty_like.h>
#include <torch/optim/optimizer.h>

#include "hewn/kernels/cuda/cuda.h"
#include "hewn/prune/gate.h"
#include "hewn/pruner.h"
#include "hewn/tensor/stream.h"

namespace hewn {

prune::PhaseChange Pruner::step(torch::optim::Optimizer& optimiser) {
  restore_dropped();
  const prune::PhaseChange change = advance();
  if (change.reset_optimiser) optimiser.state().clear();
  if (change.entered || change.moment.phase == prune::Phase::kSparsification) remember_dropped();
  show();
  return change;
}

namespace {

/// On a GPU one launch copies what all layers have dropped: with many small ones launching is what costs.
struct Copies {
  std::vector<kernels::cuda::RestoreItem> items;
  at::Tensor somewhere;  // on that GPU

  void add(const prune::Layer& layer, const at::Tensor& from, const at::Tensor& to) {
    somewhere = to;
    items.push_back({to.data_ptr<float>(), from.data_ptr<float>(), layer.support.data_ptr<uint8_t>(),
                     layer.weight.layout});
    to.unsafeGetTensorImpl()->bump_version();  // as any change in place does
  }
  void run() const {
    if (!items.empty()) kernels::cuda::restore_blocks(items, tensor::current_stream(somewhere));
  }
};

}  // namespace

/// Momentum and decay of optimisers that know nothing of supports move dropped weights too.
void Pruner::restore_dropped() {
  const at::NoGradGuard no_grad;
  Copies on_gpu;
  const std::vector<prune::Layer>& layers = algorithm().layers();
  for (size_t i = 0; i < held_.size(); ++i) {
    const prune::Layer& layer = layers[i];
    at::Tensor leaf = layer.weight.leaf;
    if (!held_[i].defined()) continue;
    if (leaf.is_cuda()) {
      on_gpu.add(layer, held_[i], leaf);
    } else {
      at::add_out(
          leaf,
          prune::block_scale(leaf, {}, layer.support, layer.weight.layout, /*bf16=*/false, layer.memory),
          held_[i]);
    }
  }
  on_gpu.run();
}

/// On a GPU always in the same memory: a recorded step restores from there.
void Pruner::remember_dropped() {
  const at::NoGradGuard no_grad;
  const std::vector<prune::Layer>& layers = algorithm().layers();
  if (recipe_.decay_dropped) return;
  held_.resize(layers.size());
  Copies on_gpu;
  for (size_t i = 0; i < layers.size(); ++i) {
    const at::Tensor& leaf = layers[i].weight.leaf;
    const at::Tensor& support = layers[i].support;
    if (!support.defined()) {
      held_[i] = at::Tensor();
    } else if (leaf.is_cuda()) {
      if (!held_[i].defined()) held_[i] = at::empty_like(leaf, leaf.options().requires_grad(false));
      on_gpu.add(layers[i], leaf, held_[i]);
    } else {
      held_[i] = prune::block_scale(leaf, {}, 1 - support, layers[i].weight.layout);
    }
  }
  on_gpu.run();
}

}  // namespace hewn
