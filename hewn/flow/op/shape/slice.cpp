#include <algorithm>

#include "hewn/flow/op/runs.h"

namespace hewn::flow {
namespace {

/// Every `step`-th index of a dimension, `length` of them.
struct Stretch {
  int64_t start = 0;
  int64_t length = 0;
  int64_t step = 1;
};

Stretch stretch(const Call& call, int64_t dim, int64_t start, int64_t end, int64_t step) {
  if (step == 0) throw call.bad("a step is 0");
  // No dimension is longer, so larger steps are not different.
  step = std::clamp(step, -2 * kMostElements, 2 * kMostElements);
  if (start < 0) start += dim;
  if (end < 0) end += dim;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, dim);
    end = std::clamp<int64_t>(end, 0, dim);
    return {start, end > start ? (end - start - 1) / step + 1 : 0, step};
  }
  if (dim == 0) return {0, 0, step};
  start = std::clamp<int64_t>(start, 0, dim - 1);
  end = std::clamp<int64_t>(end, -1, dim - 1);
  return {start, start > end ? (start - end - 1) / -step + 1 : 0, step};
}

Steps numbers_of(const Call& call, size_t input) {
  const auto values = call.values<int64_t>(input);
  return {values.data(), values.data() + values.size()};
}

/// Calls take(dimension, stretch) for those that are cut.
template <class Take>
void each_stretch(const Call& call, const Take& take) {
  const auto starts = call.values<int64_t>(1);
  const auto ends = call.values<int64_t>(2);
  Steps axes;
  for (size_t i = 0; i < starts.size() && !call.has(3); ++i) axes.push_back(static_cast<int64_t>(i));
  if (call.has(3)) axes = numbers_of(call, 3);
  const Steps steps = call.has(4) ? numbers_of(call, 4) : Steps(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    throw call.bad("starts, ends, axes and steps are not equally many");
  }
  axes = from_front(call, axes, call.rank(0));
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i]);
    take(axis, stretch(call, call.dims(0)[axis], starts[i], ends[i], steps[i]));
  }
}

std::vector<Spec> infer_slice(const Call& call) {
  Spec out = call.spec(0);
  each_stretch(call, [&](size_t axis, const Stretch& one) { out.dims[axis] = one.length; });
  return {out};
}

void run_slice(const Call& call) {
  const Dims& dims = call.out[0].spec.dims;
  if (count(dims) == 0) return;
  Steps strides = strides_of(call.dims(0));
  int64_t begin = 0;
  each_stretch(call, [&](size_t axis, const Stretch& one) {
    begin += one.start * strides[axis];
    strides[axis] *= one.step;
  });
  auto* from = static_cast<std::byte*>(call.at(0).data) + static_cast<size_t>(begin) * size_of(call.type(0));
  copy(call.type(0), dims, {from, strides}, {call.out[0].data, strides_of(dims)});
}

}  // namespace

constinit const Operator op::kSlice = {
    .name = "Slice", .least_inputs = 3, .most_inputs = 5, .infer = infer_slice, .run = run_slice};

}  // namespace hewn::flow
