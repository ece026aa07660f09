// Mean and variance of each sample's channels, or groups of channels.
#include "hewn/flow/op/normalise/moments.h"
#include "hewn/flow/op/operator.h"

namespace hewn::flow {
namespace {

void expect_scales(const Call& call, int64_t number) {
  for (size_t i = 0; i < 3; ++i) call.expect(i, Type::kFloat);
  if (call.dims(1) != Dims{number} || call.dims(2) != Dims{number}) {
    throw call.bad(str("scale and bias are not ", number, " numbers each"));
  }
}

std::vector<Spec> infer_instance_norm(const Call& call) {
  if (call.rank(0) < 2) throw call.bad("expected samples and channels");
  expect_scales(call, call.dims(0)[1]);
  return {call.spec(0)};
}

int64_t groups_of(const Call& call) {
  const int64_t groups = call.node->integer("num_groups", 0);
  if (call.rank(0) < 2) throw call.bad("expected samples and channels");
  if (groups < 1 || groups > kMostElements || call.dims(0)[1] % groups != 0) {
    throw call.bad(str(call.dims(0)[1], " channels cannot be ", groups, " groups"));
  }
  return groups;
}

std::vector<Spec> infer_group_norm(const Call& call) {
  expect_scales(call, groups_of(call));
  return {call.spec(0)};
}

/// `groups` to a sample, with a scale and a bias each.
void normalise_groups(const Call& call, int64_t groups) {
  const auto in = call.values<float>(0);
  if (in.empty()) return;
  const double epsilon = call.node->number("epsilon", 1e-5F);
  const int64_t all = call.dims(0)[0] * groups;
  const int64_t length = static_cast<int64_t>(in.size()) / all;
  for (int64_t i = 0; i < all; ++i) {
    const float* from = in.data() + i * length;
    const auto group = static_cast<size_t>(i % groups);
    const Line line = line_of(moments_of(from, length), epsilon, call.values<float>(1)[group],
                              call.values<float>(2)[group]);
    apply(line, from, call.result<float>(0).data() + i * length, length);
  }
}

void run_instance_norm(const Call& call) { normalise_groups(call, call.dims(0)[1]); }

void run_group_norm(const Call& call) { normalise_groups(call, groups_of(call)); }

}  // namespace

constinit const Operator op::kInstanceNormalization = {.name = "InstanceNormalization",
                                                       .least_inputs = 3,
                                                       .most_inputs = 3,
                                                       .infer = infer_instance_norm,
                                                       .run = run_instance_norm};
constinit const Operator op::kGroupNormalization = {.name = "GroupNormalization",
                                                    .least_inputs = 3,
                                                    .most_inputs = 3,
                                                    .infer = infer_group_norm,
                                                    .run = run_group_norm};

}  // namespace hewn::flow
