#include <limits>

#include "hewn/flow/op/window/window.h"

namespace hewn::flow {
namespace {

std::vector<Spec> infer_max_pool(const Call& call) {
  call.expect(0, Type::kFloat);
  const Window window = window_of(call, kernel_shape(call));
  const Dims dims = dims_after(call, window, call.dims(0)[1]);
  return {{Type::kFloat, dims}, {Type::kInt, dims}};
}

/// The largest in one window, and where it is in its plane; row 0 where the window sees nothing of it.
struct Largest {
  float value = -std::numeric_limits<float>::infinity();
  int64_t y = 0;
  int64_t x = 0;
};

Largest largest_in(const Window& window, int64_t y, int64_t x, const float* plane) {
  const Slide& high = window.high;
  const Slide& wide = window.wide;
  Largest best;
  bool any = false;
  const int64_t last_y = high.last_tap(y);
  const int64_t last_x = wide.last_tap(x);
  for (int64_t i = high.first_tap(y); i < last_y; ++i) {
    const int64_t row = high.start(y) + i * high.dilation;
    for (int64_t j = wide.first_tap(x); j < last_x; ++j) {
      const int64_t column = wide.start(x) + j * wide.dilation;
      const float value = plane[row * wide.in + column];
      if (!any || value > best.value) best = {value, row, column};
      any = true;
    }
  }
  return best;
}

void run_max_pool(const Call& call) {
  const Window window = window_of(call, kernel_shape(call));
  const Slide& high = window.high;
  const Slide& wide = window.wide;
  const bool by_columns = call.node->integer("storage_order", 0) != 0;
  const int64_t planes = call.dims(0)[0] * call.dims(0)[1];
  const float* in = call.values<float>(0).data();
  size_t at = 0;
  for (int64_t plane = 0; plane < planes; ++plane) {
    const int64_t begin = plane * high.in * wide.in;
    for (int64_t y = 0; y < high.out; ++y) {
      for (int64_t x = 0; x < wide.out; ++x, ++at) {
        const Largest best = largest_in(window, y, x, in + begin);
        if (call.wanted(0)) call.result<float>(0)[at] = best.value;
        if (!call.wanted(1)) continue;
        call.result<int64_t>(1)[at] =
            begin + (by_columns ? best.x * high.in + best.y : best.y * wide.in + best.x);
      }
    }
  }
}

}  // namespace

constinit const Operator op::kMaxPool = {.name = "MaxPool", .infer = infer_max_pool, .run = run_max_pool};

}  // namespace hewn::flow
