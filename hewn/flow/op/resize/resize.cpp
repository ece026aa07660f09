#include <algorithm>
#include <cstring>
#include <numeric>

#include "hewn/flow/op/numbers.h"
#include "hewn/flow/op/reduce/lanes.h"
#include "hewn/flow/op/resize/taps.h"
#include "hewn/flow/op/runs.h"

namespace hewn::flow {
namespace {

std::vector<Spec> infer_resize(const Call& call) {
  const std::vector<Scaling> scalings = scalings_of(call);
  const Mixing mixing(call);
  if (!mixing.nearest()) call.expect(0, Type::kFloat);
  Spec out = {call.type(0), {}};
  for (const Scaling& one : scalings) {
    if (one.scale < 1 && !mixing.nearest() && call.node->integer("antialias", 0) != 0) {
      throw call.bad("antialias is not supported");
    }
    out.dims.push_back(one.out);
  }
  return {out};
}

/// Whether a dimension stays as it is.
bool unchanged(const Call& call, const Scaling& one) {
  return one.in == one.out && one.scale == 1 && coordinates_of(call) != Coordinates::kCropAndResize;
}

/// A row of the output from rows of the input.
void mix(const Taps& taps, const float* from, int64_t row, float* to) {
  const auto source = [&](size_t tap) { return from + taps.index[tap] * row; };
  for (int64_t i = 0; i < row; ++i) to[i] = taps.weight[0] * source(0)[i];
  for (size_t tap = 1; tap < static_cast<size_t>(taps.number); ++tap) {
    for (int64_t i = 0; i < row; ++i) to[i] += taps.weight[tap] * source(tap)[i];
  }
}

template <class T>
T outside_of(float value) {
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else {
    return static_cast<T>(to_integer(value));
  }
}

/// Resizes one dimension of `in`.
template <class T>
Tensor resize_axis(const Call& call, const Mixing& mixing, const Tensor& in, size_t axis,
                   const Scaling& one) {
  Spec spec = in.spec();
  spec.dims[axis] = one.out;
  Tensor out(spec);
  const Lanes lanes = lanes_of(in.dims(), static_cast<int64_t>(axis));
  const float value = call.node->number("extrapolation_value", 0);
  const T outside = outside_of<T>(value);
  if (out.elements() == 0) return out;
  for (int64_t output = 0; output < one.out; ++output) {
    const Taps taps = mixing.taps(one, output);
    for (int64_t outer = 0; outer < lanes.outer; ++outer) {
      const T* from = in.values<T>().data() + outer * one.in * lanes.step;
      T* to = out.values<T>().data() + (outer * one.out + output) * lanes.step;
      if (taps.number == 0) {
        std::fill(to, to + lanes.step, outside);
      } else if (taps.number == 1) {
        std::memcpy(to, from + taps.index[0] * lanes.step, static_cast<size_t>(lanes.step) * sizeof(T));
      } else if constexpr (std::is_same_v<T, float>) {
        mix(taps, from, lanes.step, to);
      }
    }
  }
  return out;
}

template <class T>
void resize_of(const Call& call) {
  const Mixing mixing(call);
  const std::vector<Scaling> scalings = scalings_of(call);
  std::vector<size_t> axes(scalings.size());
  std::iota(axes.begin(), axes.end(), 0);
  // Those that shrink first: nothing on the way is larger than what comes in or goes out.
  std::stable_sort(axes.begin(), axes.end(), [&](size_t a, size_t b) {
    return scalings[a].out <= scalings[a].in && scalings[b].out > scalings[b].in;
  });
  Tensor now(call.spec(0));
  if (now.byte_count() > 0) std::memcpy(now.bytes(), call.at(0).data, now.byte_count());
  for (const size_t axis : axes) {
    if (!unchanged(call, scalings[axis])) now = resize_axis<T>(call, mixing, now, axis, scalings[axis]);
  }
  if (now.byte_count() > 0) std::memcpy(call.out[0].data, now.bytes(), now.byte_count());
}

void run_resize(const Call& call) {
  with_type(call.type(0), [&](auto element) { resize_of<decltype(element)>(call); });
}

}  // namespace

constinit const Operator op::kResize = {
    .name = "Resize", .most_inputs = 4, .infer = infer_resize, .run = run_resize};

}  // namespace hewn::flow
