#include <algorithm>
#include <cmath>

#include "hewn/flow/op/reduce/lanes.h"

namespace hewn::flow {
namespace {

/// Before opset 13 everything from the axis on is one lane.
Lanes softmax_lanes(const Call& call) {
  const bool flat = call.node->opset < 13;
  const int64_t rank = call.rank(0);
  int64_t axis = call.node->integer("axis", flat ? 1 : -1);
  if (flat && axis == rank) return {call.spec(0).elements(), 1, 1};
  axis = from_front(call, axis, rank);
  if (flat) return {count(call.dims(0), 0, axis), count(call.dims(0), axis, rank), 1};
  return lanes_of(call.dims(0), axis);
}

std::vector<Spec> infer_softmax(const Call& call) {
  call.expect(0, Type::kFloat);
  softmax_lanes(call);
  return {call.spec(0)};
}

/// Calls body(from, to, largest, sum of exp(x - largest)) for every lane.
template <class Body>
void each_lane(const Call& call, const Lanes& lanes, const Body& body) {
  if (call.spec(0).elements() == 0) return;
  const float* in = call.values<float>(0).data();
  float* out = call.result<float>(0).data();
  for (int64_t lane = 0; lane < lanes.number(); ++lane) {
    const float* from = in + lanes.begin(lane);
    float* to = out + lanes.begin(lane);
    float largest = from[0];
    for (int64_t i = 1; i < lanes.length; ++i) largest = std::max(largest, from[i * lanes.step]);
    double sum = 0;
    for (int64_t i = 0; i < lanes.length; ++i) {
      to[i * lanes.step] = std::exp(from[i * lanes.step] - largest);
      sum += to[i * lanes.step];
    }
    body(from, to, largest, sum);
  }
}

void run_softmax(const Call& call) {
  const Lanes lanes = softmax_lanes(call);
  each_lane(call, lanes, [&](const float*, float* to, float, double sum) {
    const auto factor = static_cast<float>(1 / sum);
    for (int64_t i = 0; i < lanes.length; ++i) to[i * lanes.step] *= factor;
  });
}

void run_log_softmax(const Call& call) {
  const Lanes lanes = softmax_lanes(call);
  each_lane(call, lanes, [&](const float* from, float* to, float largest, double sum) {
    const auto less = static_cast<float>(std::log(sum));
    for (int64_t i = 0; i < lanes.length; ++i) to[i * lanes.step] = from[i * lanes.step] - largest - less;
  });
}

}  // namespace

constinit const Operator op::kSoftmax = {.name = "Softmax", .infer = infer_softmax, .run = run_softmax};
constinit const Operator op::kLogSoftmax = {
    .name = "LogSoftmax", .infer = infer_softmax, .run = run_log_softmax};

}  // namespace hewn::flow
