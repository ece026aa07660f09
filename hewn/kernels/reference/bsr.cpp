#include "hewn/kernels/reference/bsr.h"

#include <vector>

#include "hewn/kernels/reference/elements.h"

namespace hewn::kernels::reference {
namespace {

float gate_of(const float* gate, int64_t block) { return gate == nullptr ? 1.0F : gate[block]; }

}  // namespace

void gather_blocks(const BsrPattern& pattern, const WeightLayout& layout, const float* weight,
                   const float* gate, float* values, int64_t begin, int64_t end) {
  each_kept_element(pattern, layout, begin, end, [&](const KeptElement& at) {
    values[at.value] = at.inside ? gate_of(gate, at.block) * weight[at.element] : 0.0F;
  });
}

void scatter_blocks(const BsrPattern& pattern, const WeightLayout& layout, const float* values, float* weight,
                    int64_t begin, int64_t end) {
  each_kept_element(pattern, layout, begin, end, [&](const KeptElement& at) {
    if (at.inside) weight[at.element] = values[at.value];
  });
}

void gate_backward(const BsrPattern& pattern, const WeightLayout& layout, const float* weight,
                   const float* gate, float* grad, float* grad_gate, int64_t begin, int64_t end) {
  std::vector<double> sums(static_cast<size_t>(layout.grid.blocks()), 0.0);
  each_kept_element(pattern, layout, begin, end, [&](const KeptElement& at) {
    if (!at.inside) return;
    double& sum = sums[static_cast<size_t>(at.block)];
    sum += static_cast<double>(weight[at.element]) * grad[at.value];
    grad[at.value] *= gate_of(gate, at.block);
    if (grad_gate != nullptr) grad_gate[at.block] = static_cast<float>(sum);
  });
}

}  // namespace hewn::kernels::reference
