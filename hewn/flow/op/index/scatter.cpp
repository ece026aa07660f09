#include <utility>

#include "hewn/flow/op/index/index.h"
#include "hewn/flow/op/runs.h"

namespace hewn::flow {
namespace {

int64_t scatter_axis(const Call& call) {
  return from_front(call, call.node->integer("axis", 0), call.rank(0));
}

std::vector<Spec> infer_scatter_elements(const Call& call) {
  call.expect(1, Type::kInt);
  call.expect(2, call.type(0));
  joining_of(call);
  const auto axis = static_cast<size_t>(scatter_axis(call));
  if (call.rank(1) != call.rank(0) || call.dims(1) != call.dims(2)) {
    throw call.bad("data, indices and updates do not fit together");
  }
  for (size_t d = 0; d < call.dims(0).size(); ++d) {
    if (d != axis && call.dims(1)[d] > call.dims(0)[d]) throw call.bad("there are more indices than data");
  }
  return {call.spec(0)};
}

void run_scatter_elements(const Call& call) {
  copy_first(call);
  const Joining way = joining_of(call);
  const auto axis = static_cast<size_t>(scatter_axis(call));
  const int64_t size = call.dims(0)[axis];
  const auto indices = call.values<int64_t>(1);
  Steps strides = strides_of(call.dims(0));
  const int64_t step = std::exchange(strides[axis], 0);
  with_type(call.type(0), [&](auto element) {
    using T = decltype(element);
    const auto updates = call.values<T>(2);
    const auto out = call.result<T>(0);
    each_index<1>(call.dims(1), {strides}, [&](int64_t i, const auto& offset) {
      const int64_t index = checked_index(call, indices[static_cast<size_t>(i)], size);
      T& to = out[static_cast<size_t>(offset[0] + index * step)];
      to = joined(way, to, updates[static_cast<size_t>(i)]);
    });
  });
}

std::vector<Spec> infer_scatter_nd(const Call& call) {
  call.expect(1, Type::kInt);
  call.expect(2, call.type(0));
  joining_of(call);
  const Dims& data = call.dims(0);
  const Dims& indices = call.dims(1);
  if (indices.empty() || indices.back() > call.rank(0)) throw call.bad("indices do not fit the data");
  Dims updates(indices.begin(), indices.end() - 1);
  updates.insert(updates.end(), data.begin() + indices.back(), data.end());
  if (call.dims(2) != updates) {
    throw call.bad(str("updates are ", to_string(call.dims(2)), ", expected ", to_string(updates)));
  }
  return {call.spec(0)};
}

void run_scatter_nd(const Call& call) {
  copy_first(call);
  if (call.spec(2).elements() == 0) return;
  const Joining way = joining_of(call);
  const Tuples tuples(call, call.dims(0), 0, 1);
  const auto slice = static_cast<size_t>(tuples.slice());
  with_type(call.type(0), [&](auto element) {
    using T = decltype(element);
    const auto updates = call.values<T>(2);
    const auto out = call.result<T>(0);
    for (size_t from = 0; from < updates.size(); from += slice) {
      T* to = &out[static_cast<size_t>(tuples.offset(static_cast<int64_t>(from / slice)))];
      for (size_t i = 0; i < slice; ++i) to[i] = joined(way, to[i], updates[from + i]);
    }
  });
}

}  // namespace

constinit const Operator op::kScatterElements = {.name = "ScatterElements",
                                                 .least_inputs = 3,
                                                 .most_inputs = 3,
                                                 .infer = infer_scatter_elements,
                                                 .run = run_scatter_elements};
constinit const Operator op::kScatterND = {.name = "ScatterND",
                                           .least_inputs = 3,
                                           .most_inputs = 3,
                                           .infer = infer_scatter_nd,
                                           .run = run_scatter_nd};

}  // namespace hewn::flow
