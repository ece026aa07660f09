#include "hewn/flow/op/normalise/moments.h"
#include "hewn/flow/op/operator.h"

namespace hewn::flow {
namespace {

int64_t channels_of(const Call& call) { return call.rank(0) < 2 ? 1 : call.dims(0)[1]; }

/// Inputs after the first: scale, bias, mean, variance.
std::vector<Spec> infer_batch_norm(const Call& call) {
  if (call.node->integer("training_mode", 0) != 0) throw call.bad("training is not supported");
  for (size_t i = 0; i < 5; ++i) call.expect(i, Type::kFloat);
  if (call.rank(0) < 1) throw call.bad("expected at least one dimension");
  for (size_t i = 1; i < 5; ++i) {
    if (call.dims(i) != Dims{channels_of(call)})
      throw call.bad(str("input ", i, " does not fit the channels"));
  }
  return {call.spec(0)};
}

void run_batch_norm(const Call& call) {
  const int64_t channels = channels_of(call);
  const double epsilon = call.node->number("epsilon", 1e-5F);
  const auto in = call.values<float>(0);
  if (in.empty()) return;
  const int64_t plane = call.rank(0) < 2 ? 1 : count(call.dims(0), 2, call.rank(0));
  const int64_t planes = static_cast<int64_t>(in.size()) / plane;
  for (int64_t i = 0; i < planes; ++i) {
    const auto channel = static_cast<size_t>(i % channels);
    const Moments moments = {call.values<float>(3)[channel], call.values<float>(4)[channel]};
    apply(line_of(moments, epsilon, call.values<float>(1)[channel], call.values<float>(2)[channel]),
          in.data() + i * plane, call.result<float>(0).data() + i * plane, plane);
  }
}

}  // namespace

constinit const Operator op::kBatchNormalization = {.name = "BatchNormalization",
                                                    .least_inputs = 5,
                                                    .most_inputs = 5,
                                                    .infer = infer_batch_norm,
                                                    .run = run_batch_norm};

}  // namespace hewn::flow
