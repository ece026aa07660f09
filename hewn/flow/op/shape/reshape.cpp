// Operators that leave the elements as they lie and change the shape.
#include <algorithm>

#include "hewn/flow/op/runs.h"

namespace hewn::flow {
namespace {

std::vector<Spec> infer_reshape(const Call& call) {
  Dims dims = call.list(1);
  const bool zero_is_zero = call.node->integer("allowzero", 0) != 0;
  Dims known;  // without the one that is to be found
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 0 && !zero_is_zero) {
      if (d >= call.dims(0).size()) throw call.bad(str("dimension ", d, " is 0, and the input has none"));
      dims[d] = call.dims(0)[d];
    }
    if (dims[d] != -1) known.push_back(dims[d]);
  }
  if (known.size() + 1 < dims.size()) throw call.bad("more than one dimension is -1");
  const int64_t elements = call.spec(0).elements();
  const int64_t there = count(known);
  if (known.size() < dims.size()) {
    if (there == 0 || elements % there != 0) {
      throw call.bad(str(to_string(call.spec(0)), " does not fit ", to_string(dims)));
    }
    *std::find(dims.begin(), dims.end(), -1) = elements / there;
  } else if (there != elements) {
    throw call.bad(str(to_string(call.spec(0)), " does not fit ", to_string(dims)));
  }
  return {{call.type(0), dims}};
}

std::vector<Spec> infer_flatten(const Call& call) {
  const int64_t rank = call.rank(0);
  const int64_t axis = call.node->integer("axis", 1);
  const int64_t split = axis == rank ? rank : from_front(call, axis, rank);
  return {{call.type(0), {count(call.dims(0), 0, split), count(call.dims(0), split, rank)}}};
}

std::vector<Spec> infer_squeeze(const Call& call) {
  const Dims& dims = call.dims(0);
  std::vector<bool> goes(dims.size(), false);
  const auto axes = list_of(call, "axes", 1);
  if (!axes) {
    for (size_t d = 0; d < dims.size(); ++d) goes[d] = dims[d] == 1;
  } else {
    for (const int64_t axis : from_front(call, *axes, call.rank(0))) {
      goes[static_cast<size_t>(axis)] = true;
      if (dims[static_cast<size_t>(axis)] != 1) throw call.bad(str("dimension ", axis, " is not 1"));
    }
  }
  Dims left;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (!goes[d]) left.push_back(dims[d]);
  }
  return {{call.type(0), left}};
}

std::vector<Spec> infer_unsqueeze(const Call& call) {
  const Dims& dims = call.dims(0);
  const auto axes = list_of(call, "axes", 1);
  if (!axes) throw call.bad("has no axes");
  const size_t rank = dims.size() + axes->size();
  std::vector<bool> is_new(rank, false);
  for (const int64_t axis : from_front(call, *axes, static_cast<int64_t>(rank))) {
    is_new[static_cast<size_t>(axis)] = true;
  }
  Dims out;
  auto next = dims.begin();
  for (size_t d = 0; d < rank; ++d) out.push_back(is_new[d] ? 1 : *next++);
  return {{call.type(0), out}};
}

/// Nothing is dropped when a network is not trained: all of the mask is true.
std::vector<Spec> infer_dropout(const Call& call) { return {call.spec(0), {Type::kBool, call.dims(0)}}; }

void run_dropout(const Call& call) {
  if (call.has(2)) {
    call.expect_one(2);
    if (call.values<bool>(2)[0]) throw call.bad("training is not supported");
  }
  if (call.wanted(0)) copy_first(call);
  if (call.wanted(1)) std::ranges::fill(call.result<bool>(1), true);
}

}  // namespace

constinit const Operator op::kIdentity = {.name = "Identity", .infer = same_as_first, .run = copy_first};
constinit const Operator op::kDropout = {
    .name = "Dropout", .most_inputs = 3, .infer = infer_dropout, .run = run_dropout};
constinit const Operator op::kFlatten = {.name = "Flatten", .infer = infer_flatten, .run = copy_first};
constinit const Operator op::kReshape = {
    .name = "Reshape", .least_inputs = 2, .most_inputs = 2, .infer = infer_reshape, .run = copy_first};
constinit const Operator op::kSqueeze = {
    .name = "Squeeze", .most_inputs = 2, .infer = infer_squeeze, .run = copy_first};
constinit const Operator op::kUnsqueeze = {
    .name = "Unsqueeze", .most_inputs = 2, .infer = infer_unsqueeze, .run = copy_first};

}  // namespace hewn::flow
