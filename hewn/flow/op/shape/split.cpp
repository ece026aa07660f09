#include "hewn/flow/op/runs.h"

namespace hewn::flow {
namespace {

size_t split_axis(const Call& call) {
  return static_cast<size_t>(from_front(call, call.node->integer("axis", 0), call.rank(0)));
}

/// How long the parts are.
std::vector<int64_t> parts_of(const Call& call) {
  const int64_t length = call.dims(0)[split_axis(call)];
  const auto outputs = static_cast<int64_t>(call.node->outputs.size());
  const auto given = list_of(call, "split", 1);
  if (given) {
    int64_t left = length;
    for (const int64_t part : *given) {
      if (part < 0 || part > left) throw call.bad("the parts do not fit the input");
      left -= part;
    }
    if (left != 0) throw call.bad("the parts are less than the input");
    return *given;
  }
  const int64_t number = call.node->integer("num_outputs", outputs);
  if (number != outputs || number < 1) throw call.bad(str("has ", outputs, " outputs, not ", number));
  // The last may be shorter since opset 18.
  const int64_t part = (length + number - 1) / number;
  const int64_t last = length - part * (number - 1);
  if (last < 0 || (last != part && call.node->opset < 18)) throw call.bad("cannot be split into equal parts");
  std::vector<int64_t> parts(static_cast<size_t>(number), part);
  parts.back() = last;
  return parts;
}

std::vector<Spec> infer_split(const Call& call) {
  std::vector<Spec> out;
  for (const int64_t part : parts_of(call)) {
    out.push_back(call.spec(0));
    out.back().dims[split_axis(call)] = part;
  }
  if (out.size() != call.node->outputs.size()) throw call.bad("has not as many parts as outputs");
  return out;
}

void run_split(const Call& call) {
  const size_t axis = split_axis(call);
  const Steps strides = strides_of(call.dims(0));
  auto* from = static_cast<std::byte*>(call.at(0).data);
  for (const View& part : call.out) {
    const Dims& dims = part.spec.dims;
    if (part.data != nullptr) copy(call.type(0), dims, {from, strides}, {part.data, strides_of(dims)});
    from += static_cast<size_t>(dims[axis] * strides[axis]) * size_of(call.type(0));
  }
}

}  // namespace

constinit const Operator op::kSplit = {
    .name = "Split", .most_inputs = 2, .infer = infer_split, .run = run_split};

}  // namespace hewn::flow
