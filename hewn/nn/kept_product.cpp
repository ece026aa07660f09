#include "hewn/nn/kept_product.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sum.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <algorithm>

#include "hewn/kernels/cuda/block_sparse/block_sparse.h"
#include "hewn/kernels/cuda/block_sparse/grad_weight.h"
#include "hewn/nn/held.h"
#include "hewn/tensor/memory.h"
#include "hewn/tensor/stream.h"
#include "hewn/tensor/torch_compat.h"

namespace hewn::nn {
namespace {

namespace block_sparse = kernels::cuda::block_sparse;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

block_sparse::Operand operand_of(const at::Tensor& tensor) {
  if (tensor.scalar_type() == at::kBFloat16) return block_sparse::Operand::kBf16;
  return tensor.scalar_type() == at::kHalf ? block_sparse::Operand::kHalf : block_sparse::Operand::kTf32;
}

at::Tensor device_bytes(int64_t size, const at::Tensor& like) {
  return at::empty({size}, like.options().dtype(at::kByte));
}

/// The same values from a multiple of 16 bytes on: a view of a tensor may begin anywhere.
at::Tensor at_16(const at::Tensor& tensor) {
  return reinterpret_cast<uintptr_t>(tensor.data_ptr()) % 16 == 0 ? tensor : tensor.clone();
}

/// What a product needs of a support and a weight.
struct Made {
  at::Tensor lists, values;

  Made(const block_sparse::Product& product, const at::Tensor& weight, const at::Tensor& support)
      : lists(device_bytes(product.list_bytes(), weight)),
        values(device_bytes(product.value_bytes(), weight)) {
    void* stream = tensor::current_stream(weight);
    const auto* kept = support.data_ptr<uint8_t>();
    block_sparse::find_tiles(product, kept, lists.data_ptr(), stream);
    block_sparse::pack(product, {weight.data_ptr(), block_sparse::Source::kOperand, nullptr, kept},
                       lists.data_ptr(), values.data_ptr(), stream);
  }
};

at::Tensor multiply(const block_sparse::Product& product, const at::Tensor& lists, const at::Tensor& values,
                    const at::Tensor& samples, const at::Tensor& bias) {
  at::Tensor out = at::empty({samples.size(0), product.outputs()}, samples.options());
  block_sparse::Samples call{samples.data_ptr(), samples.size(0), out.data_ptr()};
  call.bias = tensor::data_or_null<float>(bias);
  block_sparse::multiply(product, lists.data_ptr(), values.data_ptr(), call, tensor::current_stream(samples));
  return out;
}

/// samples x the kept blocks of `weight`, or of its transpose.
at::Tensor product(const at::Tensor& samples, const at::Tensor& weight, const at::Tensor& bias,
                   const prune::KeptBlocks& kept, bool transposed) {
  const block_sparse::Product product(kept.grid, operand_of(samples), transposed);
  const Made made(product, weight, kept.support);
  return multiply(product, made.lists, made.values, samples, bias);
}

/// On kept blocks where that is the faster way, else whole: what is outside of them ends at the gate.
at::Tensor weight_gradient(const at::Tensor& x, const at::Tensor& dy, const prune::KeptBlocks& kept) {
  if (!block_sparse::prefers_grad_weight(kept.grid, operand_of(x), kept.density)) return at::mm(dy.t(), x);
  const int64_t tiles = block_sparse::gradient_tiles(kept.grid, kept.density);
  const block_sparse::WeightGradient gradient(kept.grid, operand_of(x), tiles, x.size(0));
  void* stream = tensor::current_stream(x);
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
    const at::Tensor single = bias ? at_16(bias->to(at::kFloat)) : at::Tensor();
    return product(x, weight, single, kept, /*transposed=*/false);
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

/// What a matrix product would be computed in here.
at::ScalarType type_of(const at::Tensor& weight) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  const bool autocast = at::autocast::is_autocast_enabled(at::kCUDA);
  return autocast ? at::autocast::get_autocast_dtype(at::kCUDA) : weight.scalar_type();
#else
  return at::autocast::is_enabled() ? at::autocast::get_autocast_gpu_dtype() : weight.scalar_type();
#endif
}

}  // namespace

bool takes_kept_blocks(const at::Tensor& x, const at::Tensor& weight) {
  if (!x.is_cuda() || !weight.is_cuda() || x.numel() == 0 || block_sparse::architecture() < 80) return false;
  const at::ScalarType type = type_of(weight);
  if (type == at::kFloat) return at::globalContext().allowTF32CuBLAS();
  return type == at::kBFloat16 || type == at::kHalf;
}

at::Tensor kept_product(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                        const prune::KeptBlocks& kept) {
  const at::ScalarType type = type_of(weight);
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = kept.grid.cols;
  const at::Tensor rows = at_16(x.reshape({-1, kept.grid.rows}).to(type).contiguous());
  const auto given = bias.defined() ? TorchOptional<at::Tensor>(bias) : TorchOptional<at::Tensor>();
  return OnKeptBlocksOfDevice::apply(rows, weight.to(type), given, kept).view(shape);
}

PreparedProduct::PreparedProduct(const at::Tensor& weight, const prune::KeptBlocks& kept)
    : type_(weight.scalar_type()), product_(kept.grid, operand_of(weight), /*transposed=*/false) {
  const Made made(product_, at_16(weight.contiguous()), kept.support);
  lists_ = made.lists;
  values_ = made.values;
}

at::Tensor PreparedProduct::operator()(const at::Tensor& x, const at::Tensor& bias) const {
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = product_.outputs();
  const at::Tensor rows = at_16(x.reshape({-1, product_.inputs()}).to(type_).contiguous());
  const at::Tensor single = bias.defined() ? at_16(bias.to(at::kFloat).contiguous()) : bias;
  return multiply(product_, lists_, values_, rows, single).view(shape);
}

}  // namespace hewn::nn
