#pragma once

#include <cstdint>

/// A Linear layer and its gradients by definition: what the products of multiply.h must add up to. Dense
/// weights (out x in), row-major samples, sums in double precision.
namespace hewn::kernels::reference {

/// y[m][n] = sum over k of x[m][k] * w[n][k], plus bias[n] where not null.
void linear(int64_t batch, int64_t in, int64_t out, const float* x, const float* w, const float* bias,
            float* y);
/// dx[m][k] = sum over n of dy[m][n] * w[n][k].
void linear_grad_input(int64_t batch, int64_t in, int64_t out, const float* dy, const float* w, float* dx);
/// dw[n][k] = sum over m of dy[m][n] * x[m][k].
void linear_grad_weight(int64_t batch, int64_t in, int64_t out, const float* dy, const float* x, float* dw);

}  // namespace hewn::kernels::reference
