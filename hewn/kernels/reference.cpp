#include "hewn/kernels/reference.h"

#include <vector>

#include "hewn/kernels/tile.h"

namespace hewn::kernels::reference {

void tile(const TileArguments& t) {
  for (int64_t j = 0; j < t.outputs; ++j) {
    for (int64_t c = 0; c < t.columns; ++c) {
      double sum = t.bias == nullptr ? 0.0 : t.bias[j];
      int64_t i = 0;
      for (int64_t run = 0; run < t.run_count; ++run) {
        for (int64_t r = t.runs[run].row; r < t.runs[run].row + t.runs[run].length; ++r, ++i) {
          sum += static_cast<double>(t.in[r * t.in_stride + c]) * t.weight[i * t.weight_stride + j];
        }
      }
      float& out = t.out[j * t.out_stride + c];
      if (t.accumulate) sum += out;
      if (t.add != nullptr) sum += t.add[j * t.out_stride + c];
      out = static_cast<float>(t.relu && sum < 0 ? 0.0 : sum);
    }
  }
}

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

namespace {

/// Calls body(index in x, index in w, index in y) for every product of a convolution.
template <class Body>
void each_product(const Conv& c, const Body& body) {
  const ConvGeometry& g = c.geometry;
  for (int64_t n = 0; n < c.batch; ++n)
    for (int64_t o = 0; o < c.out; ++o)
      for (int64_t y = 0; y < c.out_height(); ++y)
        for (int64_t x = 0; x < c.out_width(); ++x)
          for (int64_t i = 0; i < c.in; ++i)
            for (int64_t ky = 0; ky < g.kernel_height; ++ky)
              for (int64_t kx = 0; kx < g.kernel_width; ++kx) {
                const int64_t in_y = y * g.stride - g.padding + ky * g.dilation;
                const int64_t in_x = x * g.stride - g.padding + kx * g.dilation;
                if (in_y < 0 || in_y >= c.height || in_x < 0 || in_x >= c.width) continue;
                body(((n * c.in + i) * c.height + in_y) * c.width + in_x,
                     ((o * c.in + i) * g.kernel_height + ky) * g.kernel_width + kx,
                     ((n * c.out + o) * c.out_height() + y) * c.out_width() + x);
              }
}

void round_to(const std::vector<double>& sums, float* out) {
  for (size_t i = 0; i < sums.size(); ++i) out[i] = static_cast<float>(sums[i]);
}

}  // namespace

void conv(const Conv& c, const float* x, const float* w, const float* bias, float* y) {
  const int64_t pixels = c.out_height() * c.out_width();
  std::vector<double> sums(static_cast<size_t>(c.batch * c.out * pixels));
  for (size_t i = 0; bias != nullptr && i < sums.size(); ++i)
    sums[i] = bias[static_cast<int64_t>(i) / pixels % c.out];
  each_product(c, [&](int64_t ix, int64_t iw, int64_t iy) {
    sums[static_cast<size_t>(iy)] += static_cast<double>(x[ix]) * w[iw];
  });
  round_to(sums, y);
}

void conv_grad_input(const Conv& c, const float* dy, const float* w, float* dx) {
  std::vector<double> sums(static_cast<size_t>(c.batch * c.in * c.height * c.width));
  each_product(c, [&](int64_t ix, int64_t iw, int64_t iy) {
    sums[static_cast<size_t>(ix)] += static_cast<double>(dy[iy]) * w[iw];
  });
  round_to(sums, dx);
}

void conv_grad_weight(const Conv& c, const float* dy, const float* x, float* dw) {
  std::vector<double> sums(static_cast<size_t>(c.out * c.in * c.geometry.taps()));
  each_product(c, [&](int64_t ix, int64_t iw, int64_t iy) {
    sums[static_cast<size_t>(iw)] += static_cast<double>(dy[iy]) * x[ix];
  });
  round_to(sums, dw);
}

}  // namespace hewn::kernels::reference
