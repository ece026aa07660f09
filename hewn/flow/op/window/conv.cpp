#include <algorithm>

#include "hewn/flow/op/window/window.h"

namespace hewn::flow {
namespace {

Window conv_window(const Call& call) {
  const Dims& weight = call.dims(1);
  if (weight.size() < 3) throw call.bad("the weight has too few dimensions");
  const std::vector<int64_t> kernel(weight.begin() + 2, weight.end());
  if (call.node->integers("kernel_shape", kernel) != kernel)
    throw call.bad("kernel_shape is not the weight's");
  return window_of(call, kernel);
}

std::vector<Spec> infer_conv(const Call& call) {
  for (size_t i = 0; i < call.in.size(); ++i) {
    if (call.has(i)) call.expect(i, Type::kFloat);
  }
  const Window window = conv_window(call);
  const Dims& weight = call.dims(1);
  const int64_t groups = call.node->integer("group", 1);
  if (groups < 1 || weight[0] % groups != 0 || call.dims(0)[1] % groups != 0 ||
      call.dims(0)[1] / groups != weight[1]) {
    throw call.bad(str(groups, " groups of ", to_string(weight), " do not fit ", to_string(call.dims(0))));
  }
  if (call.has(2) && call.dims(2) != Dims{weight[0]}) throw call.bad("the bias does not fit the weight");
  return {{Type::kFloat, dims_after(call, window, weight[0])}};
}

/// One tap of one input channel, for all outputs of one channel.
void add_tap(const Window& window, int64_t tap_y, int64_t tap_x, float weight, const float* in, float* out) {
  const Slide& high = window.high;
  const Slide& wide = window.wide;
  const int64_t first = wide.first_output(tap_x);
  const int64_t last = wide.last_output(tap_x);
  const int64_t last_y = high.last_output(tap_y);
  for (int64_t y = high.first_output(tap_y); y < last_y; ++y) {
    const float* from = in + (high.start(y) + tap_y * high.dilation) * wide.in;
    const int64_t begin = tap_x * wide.dilation - wide.before;
    float* to = out + y * wide.out;
    if (wide.stride == 1) {
      for (int64_t x = first; x < last; ++x) to[x] += weight * from[begin + x];
    } else {
      for (int64_t x = first; x < last; ++x) to[x] += weight * from[begin + x * wide.stride];
    }
  }
}

void run_conv(const Call& call) {
  const Window window = conv_window(call);
  const Dims& weight = call.dims(1);
  const int64_t taps = window.high.kernel * window.wide.kernel;
  const int64_t in_plane = window.high.in * window.wide.in;
  const int64_t out_plane = window.high.out * window.wide.out;
  const int64_t in_group = weight[0] / std::max<int64_t>(call.node->integer("group", 1), 1);
  const float* weights = call.values<float>(1).data();
  float* out = call.result<float>(0).data();
  if (call.out[0].spec.elements() == 0) return;
  for (int64_t sample = 0; sample < call.dims(0)[0]; ++sample) {
    for (int64_t channel = 0; channel < weight[0]; ++channel, out += out_plane) {
      const float bias = call.has(2) ? call.values<float>(2)[static_cast<size_t>(channel)] : 0.0F;
      std::fill(out, out + out_plane, bias);
      for (int64_t i = 0; i < weight[1]; ++i) {
        const int64_t plane = sample * call.dims(0)[1] + channel / in_group * weight[1] + i;
        const float* in = call.values<float>(0).data() + plane * in_plane;
        const float* filter = weights + (channel * weight[1] + i) * taps;
        for (int64_t tap = 0; tap < taps; ++tap) {
          add_tap(window, tap / window.wide.kernel, tap % window.wide.kernel, filter[tap], in, out);
        }
      }
    }
  }
}

}  // namespace

constinit const Operator op::kConv = {
    .name = "Conv", .least_inputs = 2, .most_inputs = 3, .infer = infer_conv, .run = run_conv};

}  // namespace hewn::flow
