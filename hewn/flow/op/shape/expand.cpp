#include "hewn/flow/op/runs.h"

namespace hewn::flow {
namespace {

std::vector<Spec> infer_expand(const Call& call) {
  return {{call.type(0), broadcast(call, call.dims(0), call.list(1))}};
}

void run_expand(const Call& call) {
  const Dims& dims = call.out[0].spec.dims;
  copy(call.type(0), dims, {call.at(0).data, strides_in(call.dims(0), dims)},
       {call.out[0].data, strides_of(dims)});
}

std::vector<Spec> infer_tile(const Call& call) {
  Spec out = call.spec(0);
  const std::vector<int64_t> repeats = call.list(1);
  if (repeats.size() != out.dims.size()) throw call.bad("has not one number for every dimension");
  for (size_t d = 0; d < repeats.size(); ++d) {
    if (repeats[d] < 0 || repeats[d] > kMostElements)
      throw call.bad(str("cannot repeat ", repeats[d], " times"));
    out.dims[d] *= repeats[d];
  }
  return {out};
}

void run_tile(const Call& call) {
  const std::vector<int64_t> repeats = call.list(1);
  const std::vector<int64_t> own = strides_of(call.dims(0));
  Dims dims;  // each one of the input behind its repeats
  std::vector<int64_t> strides;
  for (size_t d = 0; d < own.size(); ++d) {
    dims.insert(dims.end(), {repeats[d], call.dims(0)[d]});
    strides.insert(strides.end(), {0, own[d]});
  }
  copy(call.type(0), dims, {call.at(0).data, strides}, {call.out[0].data, strides_of(dims)});
}

}  // namespace

constinit const Operator op::kExpand = {
    .name = "Expand", .least_inputs = 2, .most_inputs = 2, .infer = infer_expand, .run = run_expand};
constinit const Operator op::kTile = {
    .name = "Tile", .least_inputs = 2, .most_inputs = 2, .infer = infer_tile, .run = run_tile};

}  // namespace hewn::flow
