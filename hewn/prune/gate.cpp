#include "hewn/prune/gate.h"

#include <ATen/Dispatch.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "hewn/core/error.h"
#include "hewn/kernels/block_ops.h"
#include "hewn/kernels/cuda/cuda.h"
#include "hewn/prune/gating/scale.h"
#include "hewn/tensor/memory.h"
#include "hewn/tensor/stream.h"
#include "hewn/tensor/torch_compat.h"

namespace hewn::prune {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

const void* data_of(const at::Tensor& gate) { return gate.defined() ? gate.data_ptr() : nullptr; }

void run_scale(const at::Tensor& weight, const at::Tensor& gate, const at::Tensor& active,
               const WeightLayout& layout, const at::Tensor& out) {
  Scaled one{weight, data_of(gate), active, layout};
  one.out = out;
  scale_blocks(std::span(&one, 1));
}

at::Tensor run_squares(const at::Tensor& weight, const WeightLayout& layout) {
  at::Tensor out = at::empty({layout.grid.blocks()}, weight.options());
  if (weight.is_cuda()) {
    kernels::cuda::block_squares(layout, weight.data_ptr<float>(), out.data_ptr<float>(),
                                 tensor::current_stream(weight));
    return out;
  }
  AT_DISPATCH_FLOATING_TYPES(weight.scalar_type(), "block_squares", [&] {
    tensor::share_columns(layout, [&](int64_t begin, int64_t end) {
      kernels::block_squares(layout, weight.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), begin, end);
    });
  });
  return out;
}

void remember(AutogradContext* context, const WeightLayout& layout) {
  const Grid& grid = layout.grid;
  context->saved_data["layout"] =
      std::vector<int64_t>{grid.rows, grid.cols, grid.block.rows, grid.block.cols, layout.taps, grid.groups};
}

WeightLayout recall(AutogradContext* context) {
  const std::vector<int64_t> v = context->saved_data["layout"].toIntVector();
  return {{v[0], v[1], {v[2], v[3]}, v[5]}, v[4]};
}

/// Which blocks of a weight are active, and what the product is made of. Not a variable: LibTorch's Function
/// takes no undefined tensors.
struct Operands {
  WeightLayout layout;
  at::Tensor active;
  at::ScalarType type;
  c10::intrusive_ptr<GateMemory> memory;
};

/// Small tensors do not come from the system.
constexpr size_t kLarge = size_t{128} << 10;

at::Tensor made_like(const at::Tensor& weight, tensor::Reused& memory) {
  return weight.nbytes() < kLarge ? at::empty_like(weight) : memory.like(weight);
}

GateMemory& memory_of(const at::IValue& saved) { return static_cast<GateMemory&>(*saved.toCapsule()); }

struct BlockScale : torch::autograd::Function<BlockScale> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& weight,
                            const TorchOptional<at::Tensor>& gate, const Operands& blocks) {
    const at::Tensor gates = gate.value_or(at::Tensor());
    remember(context, blocks.layout);
    context->save_for_backward({weight, gates, blocks.active});
    at::Tensor out = blocks.memory ? made_like(weight, blocks.memory->shown)
                                   : at::empty_like(weight, weight.options().dtype(blocks.type));
    if (blocks.memory) context->saved_data["memory"] = at::IValue::make_capsule(blocks.memory);
    run_scale(weight, gates, blocks.active, blocks.layout, out);
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& weight = saved[0];
    const at::Tensor& gate = saved[1];
    const auto memory = context->saved_data.find("memory");
    const at::Tensor grad_weight = memory == context->saved_data.end()
                                       ? at::empty_like(weight)
                                       : made_like(weight, memory_of(memory->second).gradient);
    const at::Tensor grad_gate = gate.defined() && gate.requires_grad() ? at::empty_like(gate) : at::Tensor();
    const Scaled one{weight,      data_of(gate),
                     saved[2],    recall(context),
                     {},          tensor::in_order_of(weight, grads[0]),
                     grad_weight, grad_gate.defined() ? grad_gate.data_ptr() : nullptr};
    scale_blocks_backward(std::span(&one, 1));
    return {grad_weight, grad_gate, at::Tensor()};
  }
};

struct BlockNorms : torch::autograd::Function<BlockNorms> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& weight, const WeightLayout& layout) {
    remember(context, layout);
    at::Tensor norms = run_squares(weight, layout).sqrt_();
    context->save_for_backward({weight, norms});
    return norms;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& norms = saved[1];
    const at::Tensor factor = (grads[0] / norms).masked_fill_(norms == 0, 0).contiguous();
    const at::Tensor grad_weight = at::empty_like(saved[0]);
    run_scale(saved[0], factor, at::Tensor(), recall(context), grad_weight);
    return {grad_weight, at::Tensor()};
  }
};

}  // namespace

at::Tensor block_scale(const at::Tensor& weight, const at::Tensor& gate, const at::Tensor& active,
                       const WeightLayout& layout, bool bf16, const c10::intrusive_ptr<GateMemory>& memory) {
  if (bf16 && !weight.is_cuda()) throw Error("block_scale: gives bf16 on a GPU only");
  const auto gates =
      gate.defined() ? TorchOptional<at::Tensor>(gate.contiguous()) : TorchOptional<at::Tensor>();
  return BlockScale::apply(weight, gates,
                           Operands{layout, active, bf16 ? at::kBFloat16 : weight.scalar_type(),
                                    weight.is_cpu() ? memory : c10::intrusive_ptr<GateMemory>()});
}

at::Tensor block_norms(const at::Tensor& weight, const WeightLayout& layout) {
  return BlockNorms::apply(weight, layout);
}

at::Tensor block_dots(const at::Tensor& a, const at::Tensor& b, const WeightLayout& layout) {
  // What the gate's gradient is; the weight's comes with it.
  at::Tensor out = at::empty({layout.grid.blocks()}, a.options().requires_grad(false));
  const Scaled one{a, nullptr, {}, layout, {}, b, at::empty_like(a), out.data_ptr()};
  scale_blocks_backward(std::span(&one, 1));
  return out;
}

WeightLayout layout_of(const at::Tensor& weight, BlockShape block, int64_t groups) {
  if (weight.dim() == 2 && weight.is_contiguous())
    return {{weight.size(1), weight.size(0), block, groups}, 1};
  if (weight.dim() == 3 && weight.is_contiguous()) {
    return {{weight.size(2) * weight.size(1), weight.size(0), block, groups}, weight.size(2)};
  }
  if (weight.dim() == 4) {
    const int64_t taps = weight.size(2) * weight.size(3);
    const Grid grid = {taps * weight.size(1), weight.size(0), block, groups};
    if (weight.is_contiguous()) return {grid, taps};
    if (weight.is_contiguous(at::MemoryFormat::ChannelsLast)) return {grid, 1};
  }
  throw Error(hewn::str("a weight of shape ", weight.sizes(), " and strides ", weight.strides(),
                        ": expected a contiguous Linear, Conv1d, Conv2d or Embedding weight"));
}

}  // namespace hewn::prune
