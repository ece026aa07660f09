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

/// One number of the output, whose neighbours in memory are its neighbours in the dimension that is resized.
template <class T>
T mixed(const Taps& taps, const T* from, T outside) {
  if (taps.number == 0) return outside;
  if (taps.number == 1) return from[taps.index[0]];
  if constexpr (std::is_same_v<T, float>) {
    float sum = taps.weight[0] * from[taps.index[0]];
    for (size_t tap = 1; tap < static_cast<size_t>(taps.number); ++tap)
      sum += taps.weight[tap] * from[taps.index[tap]];
    return sum;
  }
  return outside;
}

/// Resizes one dimension of numbers of that shape.
template <class T>
void resize_axis(const Call& call, const Mixing& mixing, const Dims& dims, size_t axis, const Scaling& one,
                 const T* from, T* to) {
  const Lanes lanes = lanes_of(dims, static_cast<int64_t>(axis));
  const T outside = outside_of<T>(call.node->number("extrapolation_value", 0));
  // So many at a time, since there may be more of them than numbers to mix.
  constexpr int64_t kTogether = 1 << 12;
  std::vector<Taps> some;
  for (int64_t begin = 0; begin < one.out; begin += kTogether) {
    some.clear();
    for (int64_t i = begin; i < std::min(one.out, begin + kTogether); ++i)
      some.push_back(mixing.taps(one, i));
    for (int64_t outer = 0; outer < lanes.outer; ++outer) {
      const T* row = from + outer * one.in * lanes.step;
      T* out = to + (outer * one.out + begin) * lanes.step;
      if (lanes.step == 1) {
        for (const Taps& taps : some) *out++ = mixed(taps, row, outside);
        continue;
      }
      for (const Taps& taps : some) {
        if (taps.number == 0) {
          std::fill(out, out + lanes.step, outside);
        } else if (taps.number == 1) {
          std::memcpy(out, row + taps.index[0] * lanes.step, static_cast<size_t>(lanes.step) * sizeof(T));
        } else if constexpr (std::is_same_v<T, float>) {
          mix(taps, row, lanes.step, out);
        }
        out += lanes.step;
      }
    }
  }
}

template <class T>
void resize_of(const Call& call) {
  const Mixing mixing(call);
  const std::vector<Scaling> scalings = scalings_of(call);
  std::vector<size_t> axes;
  for (size_t axis = 0; axis < scalings.size(); ++axis) {
    if (!unchanged(call, scalings[axis])) axes.push_back(axis);
  }
  // Those that shrink first: nothing on the way is larger than what comes in or goes out.
  std::stable_sort(axes.begin(), axes.end(), [&](size_t a, size_t b) {
    return scalings[a].out <= scalings[a].in && scalings[b].out > scalings[b].in;
  });
  const auto* from = static_cast<const T*>(call.at(0).data);
  auto* out = static_cast<T*>(call.out[0].data);
  Dims dims = call.dims(0);
  if (axes.empty()) std::copy_n(from, count(dims), out);
  std::vector<Tensor> between;
  for (const size_t axis : axes) {
    Dims next = dims;
    next[axis] = scalings[axis].out;
    T* to = out;
    if (axis != axes.back()) {
      between.emplace_back(Spec{call.type(0), next});
      to = between.back().template values<T>().data();
    }
    if (count(next) > 0) resize_axis(call, mixing, dims, axis, scalings[axis], from, to);
    from = to;
    dims = std::move(next);
  }
}

void run_resize(const Call& call) {
  with_type(call.type(0), [&](auto element) { resize_of<decltype(element)>(call); });
}

}  // namespace

constinit const Operator op::kResize = {
    .name = "Resize", .most_inputs = 4, .infer = infer_resize, .run = run_resize};

}  // namespace hewn::flow
