#include <cstring>
#include <utility>

#include "hewn/flow/op/index/index.h"

namespace hewn::flow {
namespace {

int64_t gather_axis(const Call& call) {
  return from_front(call, call.node->integer("axis", 0), call.rank(0));
}

std::vector<Spec> infer_gather(const Call& call) {
  call.expect(1, Type::kInt);
  const int64_t axis = gather_axis(call);
  const Dims& data = call.dims(0);
  Spec out = {call.type(0), {data.begin(), data.begin() + axis}};
  out.dims.insert(out.dims.end(), call.dims(1).begin(), call.dims(1).end());
  out.dims.insert(out.dims.end(), data.begin() + axis + 1, data.end());
  return {out};
}

void run_gather(const Call& call) {
  const int64_t axis = gather_axis(call);
  const Dims& data = call.dims(0);
  if (call.out[0].spec.elements() == 0) return;
  const int64_t size = data[static_cast<size_t>(axis)];
  const size_t slice = static_cast<size_t>(count(data, axis + 1, call.rank(0))) * size_of(call.type(0));
  const auto* from = static_cast<const std::byte*>(call.at(0).data);
  auto* to = static_cast<std::byte*>(call.out[0].data);
  for (int64_t outer = count(data, 0, axis); outer > 0; --outer) {
    for (const int64_t index : call.values<int64_t>(1)) {
      std::memcpy(to, from + static_cast<size_t>(checked_index(call, index, size)) * slice, slice);
      to += slice;
    }
    from += static_cast<size_t>(size) * slice;
  }
}

std::vector<Spec> infer_gather_elements(const Call& call) {
  call.expect(1, Type::kInt);
  const auto axis = static_cast<size_t>(gather_axis(call));
  if (call.rank(1) != call.rank(0)) throw call.bad("indices and data have not as many dimensions");
  for (size_t d = 0; d < call.dims(0).size(); ++d) {
    if (d != axis && call.dims(1)[d] > call.dims(0)[d]) throw call.bad("there are more indices than data");
  }
  return {{call.type(0), call.dims(1)}};
}

void run_gather_elements(const Call& call) {
  const auto axis = static_cast<size_t>(gather_axis(call));
  const int64_t size = call.dims(0)[axis];
  const auto indices = call.values<int64_t>(1);
  Steps strides = strides_of(call.dims(0));
  const int64_t step = std::exchange(strides[axis], 0);
  with_type(call.type(0), [&](auto element) {
    using T = decltype(element);
    const auto data = call.values<T>(0);
    const auto out = call.result<T>(0);
    each_index<1>(call.dims(1), {strides}, [&](int64_t i, const auto& offset) {
      const int64_t index = checked_index(call, indices[static_cast<size_t>(i)], size);
      out[static_cast<size_t>(i)] = data[static_cast<size_t>(offset[0] + index * step)];
    });
  });
}

/// Dimensions that both share as they are, before the tuples' own.
int64_t batch_dims_of(const Call& call) {
  const int64_t batch = call.node->integer("batch_dims", 0);
  if (batch < 0 || batch >= std::min(call.rank(0), call.rank(1))) throw call.bad("batch_dims does not fit");
  return batch;
}

std::vector<Spec> infer_gather_nd(const Call& call) {
  call.expect(1, Type::kInt);
  const int64_t batch = batch_dims_of(call);
  const Dims& data = call.dims(0);
  const Dims& indices = call.dims(1);
  if (!std::equal(data.begin(), data.begin() + batch, indices.begin())) {
    throw call.bad("the first dimensions of data and indices differ");
  }
  if (indices.back() > call.rank(0) - batch)
    throw call.bad("indices have more parts than the data dimensions");
  Spec out = {call.type(0), {indices.begin(), indices.end() - 1}};
  out.dims.insert(out.dims.end(), data.begin() + batch + indices.back(), data.end());
  return {out};
}

void run_gather_nd(const Call& call) {
  if (call.out[0].spec.elements() == 0) return;
  const int64_t batch = batch_dims_of(call);
  const Dims& data = call.dims(0);
  const Tuples tuples(call, data, static_cast<size_t>(batch), 1);
  const int64_t each = count(data, batch, call.rank(0));
  const int64_t in_batch = count(call.dims(1), batch, call.rank(1) - 1);
  const size_t width = size_of(call.type(0));
  const size_t slice = static_cast<size_t>(tuples.slice()) * width;
  const auto* from = static_cast<const std::byte*>(call.at(0).data);
  auto* to = static_cast<std::byte*>(call.out[0].data);
  const int64_t all = count(call.dims(1), 0, call.rank(1) - 1);
  for (int64_t i = 0; i < all; ++i, to += slice) {
    std::memcpy(to, from + static_cast<size_t>(i / in_batch * each + tuples.offset(i)) * width, slice);
  }
}

}  // namespace

constinit const Operator op::kGather = {
    .name = "Gather", .least_inputs = 2, .most_inputs = 2, .infer = infer_gather, .run = run_gather};
constinit const Operator op::kGatherElements = {.name = "GatherElements",
                                                .least_inputs = 2,
                                                .most_inputs = 2,
                                                .infer = infer_gather_elements,
                                                .run = run_gather_elements};
constinit const Operator op::kGatherND = {
    .name = "GatherND", .least_inputs = 2, .most_inputs = 2, .infer = infer_gather_nd, .run = run_gather_nd};

}  // namespace hewn::flow
