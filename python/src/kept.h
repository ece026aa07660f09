#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "hewn/nn/sparse_layer.h"
#include "hewn/prune/sparse_weight.h"

namespace hewn::python {

/// The kept blocks of a weight times their gate, [kept][block.cols][block.rows] in a row; differentiable in
/// both. `gate` may be undefined.
at::Tensor kept_values(const at::Tensor& leaf, const at::Tensor& gate,
                       const std::shared_ptr<prune::SparseWeight>& blocks);

/// What a layer gives with those values as its kept blocks; differentiable in x, values and bias, which may
/// be undefined. Vectors of a linear layer may come in any number of dimensions.
at::Tensor multiply(const std::shared_ptr<nn::SparseLayer>& layer, const at::Tensor& x,
                    const at::Tensor& values, const at::Tensor& bias);

}  // namespace hewn::python
