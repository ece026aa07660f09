// What is asked of a shape alone.
#include <algorithm>

#include "hewn/flow/op/operator.h"

namespace hewn::flow {
namespace {

/// The first and the last of the dimensions that are asked for.
std::pair<int64_t, int64_t> bounds_of_shape(const Call& call) {
  const int64_t rank = call.rank(0);
  const auto bound = [&](const char* name, int64_t otherwise) {
    const int64_t at = call.node->integer(name, otherwise);
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t start = bound("start", 0);
  return {start, std::max(start, bound("end", rank))};
}

std::vector<Spec> infer_shape(const Call& call) {
  const auto [start, end] = bounds_of_shape(call);
  return {{Type::kInt, {end - start}}};
}

void run_shape(const Call& call) {
  const auto [start, end] = bounds_of_shape(call);
  std::copy(call.dims(0).begin() + start, call.dims(0).begin() + end, call.result<int64_t>(0).begin());
}

std::vector<Spec> infer_size(const Call&) { return {{Type::kInt, {}}}; }

void run_size(const Call& call) { call.result<int64_t>(0)[0] = call.spec(0).elements(); }

}  // namespace

constinit const Operator op::kShape = {.name = "Shape", .infer = infer_shape, .run = run_shape};
constinit const Operator op::kSize = {.name = "Size", .infer = infer_size, .run = run_size};

}  // namespace hewn::flow
