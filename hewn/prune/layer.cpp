#include "hewn/prune/layer.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "hewn/prune/gate.h"
#include "hewn/prune/gating/gate_group.h"
#include "hewn/tensor/memory.h"

namespace hewn::prune {
namespace {

// Rows of a layer's input that a score sees in one step: enough for what it averages over many.
constexpr int64_t kRowsSeen = 4096;

constexpr double kDensitySteps = 16;

}  // namespace

void Layer::set_support(const at::Tensor& chosen, const Execution& execution) {
  if (chosen.defined() && chosen.is_same(support_memory)) {
    support_memory.unsafeGetTensorImpl()->bump_version();  // as any change in place does
  } else if (chosen.defined() && support_memory.defined()) {
    support_memory.copy_(chosen);
  } else if (chosen.defined()) {
    support_memory = chosen.clone();
  }
  support = chosen.defined() ? support_memory : at::Tensor();
  sparse = nullptr;
  kept = nullptr;
  if (!support.defined() || !execution || score->sees_gradients()) return;
  const at::Tensor& leaf = weight.leaf;
  const bool able = leaf.is_cuda() ? slot.set_kept != nullptr && slot.takes_kept(weight.layout.grid)
                                   : leaf.is_cpu() && slot.set_sparse != nullptr;
  if (!able || leaf.scalar_type() != at::kFloat) return;  // the kernels know no others
  if (!execution(*this, 0)) return;  // at no density: then nothing has to wait for the GPU's count
  const double density =
      static_cast<double>(support.sum().item<int64_t>()) / static_cast<double>(weight.blocks());
  if (!execution(*this, density)) return;
  if (leaf.is_cuda()) {
    // In steps, so that most supports of a ramp find the work of a step recorded.
    const double most = std::ceil(density * kDensitySteps) / kDensitySteps;
    kept = std::make_shared<const KeptBlocks>(KeptBlocks{weight.layout.grid, support, most});
  } else {
    sparse = std::make_shared<SparseWeight>(leaf, weight.layout, support);
  }
}

void Layer::drop() {
  const at::NoGradGuard no_grad;
  weight.leaf.copy_(block_scale(weight.leaf, at::Tensor(), support, weight.layout));
}

void Layer::show(bool bf16) const {
  if (sparse == nullptr) {
    slot.set(gated(bf16));
    if (kept != nullptr) slot.set_kept(kept);
    return;
  }
  sparse->gate = score->gate(weight);
  slot.set_sparse(sparse);
}

/// W * A * mask (Algorithm 1, last line but one).
at::Tensor Layer::gated_alone(bool bf16) const {
  const at::Tensor gate = score->gate(weight);
  if (!gate.defined() && !support.defined() && !score->sees_gradients()) return weight.leaf;
  return block_scale(weight.leaf, gate, support, weight.layout, bf16, memory);
}

at::Tensor Layer::gated(bool bf16) const {
  const bool on_gpu = weight.leaf.is_cuda();
  const bool seen = score->sees_gradients();
  at::Tensor shown;
  if (group != nullptr && at::GradMode::is_enabled()) shown = group->take(place, bf16 && on_gpu);
  if (!shown.defined()) shown = gated_alone(bf16 && on_gpu);
  if (seen && shown.requires_grad()) {
    shown.register_hook([score = score, weight = weight](const at::Tensor& gradient) {
      score->see_gradient(weight, tensor::in_order_of(weight.leaf, gradient));
    });
  }
  return shown;
}

void Layer::listen(bool on) const {
  if (!score->sees_inputs()) return;
  if (!on) {
    slot.watch(nullptr);
    return;
  }
  slot.watch([score = score, rows = slot.rows](const at::Tensor& input) {
    const at::NoGradGuard no_grad;
    const int64_t each = input.dim() == 4 ? input.size(2) * input.size(3) : 1;
    const int64_t some = std::min(input.size(0), std::max<int64_t>(1, kRowsSeen / each));
    score->see(rows(input.narrow(0, 0, some)));
  });
}

void Layer::fold() {
  const at::NoGradGuard no_grad;
  weight.leaf.copy_(gated(/*bf16=*/false));
  sparse = nullptr;
  kept = nullptr;
  slot.set(weight.leaf);
  listen(false);
}

}  // namespace hewn::prune
