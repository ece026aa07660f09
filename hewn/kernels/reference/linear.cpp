#include "hewn/kernels/reference/linear.h"

namespace hewn::kernels::reference {

void linear(int64_t batch, int64_t in, int64_t out, const float* x, const float* w, const float* bias,
            float* y) {
  for (int64_t m = 0; m < batch; ++m) {
    for (int64_t n = 0; n < out; ++n) {
      double sum = bias == nullptr ? 0.0 : bias[n];
      for (int64_t k = 0; k < in; ++k) sum += static_cast<double>(x[m * in + k]) * w[n * in + k];
      y[m * out + n] = static_cast<float>(sum);
    }
  }
}

void linear_grad_input(int64_t batch, int64_t in, int64_t out, const float* dy, const float* w, float* dx) {
  for (int64_t m = 0; m < batch; ++m) {
    for (int64_t k = 0; k < in; ++k) {
      double sum = 0;
      for (int64_t n = 0; n < out; ++n) sum += static_cast<double>(dy[m * out + n]) * w[n * in + k];
      dx[m * in + k] = static_cast<float>(sum);
    }
  }
}

void linear_grad_weight(int64_t batch, int64_t in, int64_t out, const float* dy, const float* x, float* dw) {
  for (int64_t n = 0; n < out; ++n) {
    for (int64_t k = 0; k < in; ++k) {
      double sum = 0;
      for (int64_t m = 0; m < batch; ++m) sum += static_cast<double>(dy[m * out + n]) * x[m * in + k];
      dw[n * in + k] = static_cast<float>(sum);
    }
  }
}

}  // namespace hewn::kernels::reference
