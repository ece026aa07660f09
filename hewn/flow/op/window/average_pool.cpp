#include <algorithm>

#include "hewn/flow/op/window/window.h"

namespace hewn::flow {
namespace {

std::vector<Spec> infer_average_pool(const Call& call) {
  call.expect(0, Type::kFloat);
  const Window window = window_of(call, kernel_shape(call));
  return {{Type::kFloat, dims_after(call, window, call.dims(0)[1])}};
}

/// Taps of a window that count: those in the image, or also those in the padding, but none behind that.
int64_t counted_taps(const Slide& slide, int64_t output, bool with_padding) {
  if (!with_padding) return slide.last_tap(output) - slide.first_tap(output);
  const int64_t left = slide.in + slide.after - slide.start(output);
  return std::clamp<int64_t>((left + slide.dilation - 1) / slide.dilation, 0, slide.kernel);
}

double sum_in(const Window& window, int64_t y, int64_t x, const float* plane) {
  const Slide& high = window.high;
  const Slide& wide = window.wide;
  double sum = 0;
  const int64_t last_y = high.last_tap(y);
  const int64_t last_x = wide.last_tap(x);
  for (int64_t i = high.first_tap(y); i < last_y; ++i) {
    const float* row = plane + (high.start(y) + i * high.dilation) * wide.in + wide.start(x);
    for (int64_t j = wide.first_tap(x); j < last_x; ++j) sum += row[j * wide.dilation];
  }
  return sum;
}

void run_average_pool(const Call& call) {
  const Window window = window_of(call, kernel_shape(call));
  const bool with_padding = call.node->integer("count_include_pad", 0) != 0;
  const int64_t planes = call.dims(0)[0] * call.dims(0)[1];
  const float* in = call.values<float>(0).data();
  float* out = call.result<float>(0).data();
  for (int64_t plane = 0; plane < planes; ++plane, in += window.high.in * window.wide.in) {
    for (int64_t y = 0; y < window.high.out; ++y) {
      const int64_t rows = counted_taps(window.high, y, with_padding);
      for (int64_t x = 0; x < window.wide.out; ++x) {
        const int64_t taps = rows * counted_taps(window.wide, x, with_padding);
        *out++ = taps == 0 ? 0.0F : static_cast<float>(sum_in(window, y, x, in) / static_cast<double>(taps));
      }
    }
  }
}

}  // namespace

constinit const Operator op::kAveragePool = {
    .name = "AveragePool", .infer = infer_average_pool, .run = run_average_pool};

}  // namespace hewn::flow
