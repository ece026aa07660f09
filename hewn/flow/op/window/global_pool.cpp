#include <algorithm>
#include <numeric>

#include "hewn/flow/op/numbers.h"
#include "hewn/flow/op/operator.h"

namespace hewn::flow {
namespace {

std::vector<Spec> infer_global_pool(const Call& call) {
  call.expect(0, Type::kFloat);
  if (call.rank(0) < 3) throw call.bad("expected samples, channels and dimensions of space");
  Spec out = call.spec(0);
  std::fill(out.dims.begin() + 2, out.dims.end(), 1);
  if (call.spec(0).elements() == 0 && out.elements() > 0) throw call.bad("there is nothing to pool");
  return {out};
}

/// Every plane of one sample and channel becomes one number.
template <class Reduce>
void pool_planes(const Call& call, const Reduce& reduce) {
  const auto in = call.values<float>(0);
  const auto out = call.result<float>(0);
  if (out.empty()) return;
  const size_t plane = in.size() / out.size();
  for (size_t i = 0; i < out.size(); ++i) out[i] = reduce(in.subspan(i * plane, plane));
}

void run_global_average_pool(const Call& call) {
  pool_planes(call, [](std::span<const float> plane) {
    return static_cast<float>(std::accumulate(plane.begin(), plane.end(), 0.0) /
                              static_cast<double>(plane.size()));
  });
}

void run_global_max_pool(const Call& call) {
  pool_planes(call, [](std::span<const float> plane) {
    return std::accumulate(plane.begin(), plane.end(), plane[0], larger<float>);
  });
}

}  // namespace

constinit const Operator op::kGlobalAveragePool = {
    .name = "GlobalAveragePool", .infer = infer_global_pool, .run = run_global_average_pool};
constinit const Operator op::kGlobalMaxPool = {
    .name = "GlobalMaxPool", .infer = infer_global_pool, .run = run_global_max_pool};

}  // namespace hewn::flow
