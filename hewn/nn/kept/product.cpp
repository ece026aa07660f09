#include "hewn/nn/kept/product.h"

#include <ATen/Context.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sum.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include "hewn/kernels/cuda/block_sparse/grad_weight.h"
#include "hewn/nn/held.h"
#include "hewn/tensor/stream.h"
#include "hewn/tensor/torch_compat.h"

namespace hewn::nn {
namespace {

namespace block_sparse = kernels::cuda::block_sparse;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor multiply(const block_sparse::Product& product, const Made& made, const at::Tensor& samples,
                    const Finish& finish) {
  at::Tensor out = at::empty({samples.size(0), product.outputs()}, samples.options());
  block_sparse::multiply(product, made.lists.data_ptr(), made.values.data_ptr(),
                         call_of(samples, samples.size(0), out, finish), tensor::current_stream(samples));
  return out;
}

/// samples x the kept blocks of `weight`, or of its transpose.
at::Tensor product(const at::Tensor& samples, const at::Tensor& weight, const at::Tensor& bias,
                   const prune::KeptBlocks& kept, bool transposed) {
  const block_sparse::Product product(kept.grid, operand_of(samples.scalar_type()), transposed);
  return multiply(product, Made(product, weight, kept.support), samples, {bias});
}

/// On kept blocks where that is the faster way, else whole: what is outside of them ends at the gate.
at::Tensor weight_gradient(const at::Tensor& x, const at::Tensor& dy, const prune::KeptBlocks& kept) {
  const block_sparse::Operand type = operand_of(x.scalar_type());
  if (!block_sparse::prefers_grad_weight(kept.grid, type, kept.density)) return at::mm(dy.t(), x);
  const int64_t tiles = block_sparse::gradient_tiles(kept.grid, kept.density);
  const block_sparse::WeightGradient gradient(kept.grid, type, tiles, x.size(0));
  const tensor::CurrentStream stream(x);
  const at::Tensor lists = device_bytes(gradient.list_bytes(), x);
  const at::Tensor sums = device_bytes(gradient.sum_bytes(), x);
  const auto* support = kept.support.data_ptr<uint8_t>();
  at::Tensor out = at::empty({kept.grid.cols, kept.grid.rows}, x.options());
  block_sparse::find_pairs(gradient, support, lists.data_ptr(), stream);
  block_sparse::grad_weight(
      gradient, lists.data_ptr(), sums.data_ptr(),
      {x.data_ptr(), dy.data_ptr(), support, out.data_ptr(), block_sparse::Source::kOperand, true}, stream);
  return out;
}

struct OnKeptBlocksOfDevice : torch::autograd::Function<OnKeptBlocksOfDevice> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const TorchOptional<at::Tensor>& bias, const prune::KeptBlocks& kept) {
    context->saved_data["kept"] = hold(kept);
    context->saved_data["has_bias"] = bias.has_value();
    context->save_for_backward({x, weight});
    return product(x, weight, single_bias(bias.value_or(at::Tensor())), kept, /*transposed=*/false);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    const auto kept = held<prune::KeptBlocks>(context->saved_data["kept"]);
    const at::Tensor dy = at_16(grads[0].to(saved[0].scalar_type()).contiguous());
    at::Tensor dx;
    at::Tensor grad_weight;
    at::Tensor grad_bias;
    if (context->needs_input_grad(0)) dx = product(dy, saved[1], at::Tensor(), kept, /*transposed=*/true);
    if (context->needs_input_grad(1)) grad_weight = weight_gradient(saved[0], dy, kept);
    if (context->saved_data["has_bias"].toBool()) grad_bias = dy.sum(0, false, at::kFloat);
    return {dx, grad_weight, grad_bias, at::Tensor()};
  }
};

}  // namespace

bool takes_kept_blocks(const at::Tensor& x, const at::Tensor& weight) {
  if (!x.is_cuda() || !weight.is_cuda() || x.numel() == 0 || block_sparse::architecture() < 80) return false;
  const at::ScalarType type = compute_type(weight);
  if (type == at::kFloat) return at::globalContext().allowTF32CuBLAS();
  return type == at::kBFloat16 || type == at::kHalf;
}

at::Tensor kept_product(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                        const prune::KeptBlocks& kept) {
  const at::ScalarType type = compute_type(weight);
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = kept.grid.cols;
  const at::Tensor rows = at_16(x.reshape({-1, kept.grid.rows}).to(type).contiguous());
  const auto given = bias.defined() ? TorchOptional<at::Tensor>(bias) : TorchOptional<at::Tensor>();
  return OnKeptBlocksOfDevice::apply(rows, weight.to(type), given, kept).view(shape);
}

PreparedProduct::PreparedProduct(const at::Tensor& weight, const prune::KeptBlocks& kept)
    : type_(weight.scalar_type()),
      product_(kept.grid, operand_of(type_), /*transposed=*/false),
      made_(product_, at_16(weight.contiguous()), kept.support) {}

at::Tensor PreparedProduct::operator()(const at::Tensor& x, const Finish& finish) const {
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = product_.outputs();
  const at::Tensor rows = at_16(x.reshape({-1, product_.inputs()}).to(type_).contiguous());
  Finish whole{single_bias(finish.bias), finish.residual, finish.relu};
  if (whole.residual.defined()) whole.residual = at_16(whole.residual.contiguous());
  return multiply(product_, made_, rows, whole).view(shape);
}

}  // namespace hewn::nn
