#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/add.h>
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

/// Momentum and decay of optimisers that know nothing of supports move dropped weights too. On a GPU one
/// launch restores all layers: with many small ones launching is what costs.
void Pruner::restore_dropped() {
  const at::NoGradGuard no_grad;
  std::vector<kernels::cuda::RestoreItem> on_gpu;
  void* stream = nullptr;
  for (const prune::Pruner::Layer& layer : algorithm().layers()) {
    const auto held = held_.find(layer.name);
    if (held == held_.end()) continue;
    at::Tensor leaf = layer.weight.leaf;
    if (leaf.is_cuda()) {
      stream = tensor::current_stream(leaf);
      on_gpu.push_back({leaf.data_ptr<float>(), held->second.data_ptr<float>(),
                        layer.support.data_ptr<uint8_t>(), layer.weight.layout});
      leaf.unsafeGetTensorImpl()->bump_version();  // as any change in place does
    } else {
      at::add_out(
          leaf,
          prune::block_scale(leaf, {}, layer.support, layer.weight.layout, /*bf16=*/false, layer.memory),
          held->second);
    }
  }
  if (!on_gpu.empty()) kernels::cuda::restore_blocks(on_gpu, stream);
}

void Pruner::remember_dropped() {
  const at::NoGradGuard no_grad;
  held_.clear();
  if (recipe_.decay_dropped) return;
  for (const prune::Pruner::Layer& layer : algorithm().layers()) {
    if (!layer.support.defined()) continue;
    held_[layer.name] = prune::block_scale(layer.weight.leaf, {}, 1 - layer.support, layer.weight.layout);
  }
}

}  // namespace hewn
