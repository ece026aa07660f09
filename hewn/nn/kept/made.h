#pragma once

#include <ATen/core/Tensor.h>

#include "hewn/kernels/cuda/block_sparse/block_sparse.h"

/// What layers on the kept blocks of their weight on a GPU share.
namespace hewn::nn {

kernels::cuda::block_sparse::Operand operand_of(at::ScalarType type);

/// What a layer with this weight would compute in here.
at::ScalarType compute_type(const at::Tensor& weight);

at::Tensor device_bytes(int64_t size, const at::Tensor& like);

/// The same values from a multiple of 16 bytes on: a view of a tensor may begin anywhere.
at::Tensor at_16(const at::Tensor& tensor);

/// A bias as the kernels take it; undefined for an undefined one.
at::Tensor single_bias(const at::Tensor& bias);

/// What is added to a product, and done with the sum. Tensors may be undefined.
struct Finish {
  at::Tensor bias = {};
  at::Tensor residual = {};  // as the result, in shape, type and order
  bool relu = false;
};
/// The call that `finish` describes. Its tensors must outlive it; the bias is a single_bias.
kernels::cuda::block_sparse::Samples call_of(const at::Tensor& x, int64_t samples, const at::Tensor& y,
                                             const Finish& finish);

/// What a product needs of a support and a weight, which is as the product reads it.
struct Made {
  at::Tensor lists, values;

  Made(const kernels::cuda::block_sparse::Product& product, const at::Tensor& weight,
       const at::Tensor& support);
};

}  // namespace hewn::nn
