#include "hewn/kernels/reference/conv.h"

#include <vector>

namespace hewn::kernels::reference {
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
