#include <algorithm>

#include "hewn/flow/op/normalise/moments.h"
#include "hewn/flow/op/runs.h"

namespace hewn::flow {
namespace {

int64_t layer_norm_axis(const Call& call) {
  return from_front(call, call.node->integer("axis", -1), call.rank(0));
}

/// The dimensions that are normalised.
Dims normalised_dims(const Call& call) {
  return {call.dims(0).begin() + layer_norm_axis(call), call.dims(0).end()};
}

/// Outputs: what is normalised, means, and one by the standard deviations.
std::vector<Spec> infer_layer_norm(const Call& call) {
  const Dims dims = normalised_dims(call);
  for (size_t i = 0; i < call.in.size(); ++i) {
    if (!call.has(i)) continue;
    call.expect(i, Type::kFloat);
    if (i > 0 && broadcast(call, dims, call.dims(i)) != dims) {
      throw call.bad(str("input ", i, " does not fit ", to_string(dims)));
    }
  }
  Spec statistics = call.spec(0);
  std::fill(statistics.dims.begin() + layer_norm_axis(call), statistics.dims.end(), 1);
  return {call.spec(0), statistics, statistics};
}

/// Scale or bias as long as what is normalised; empty where it is not there.
std::vector<float> stretched(const Call& call, size_t input, const Dims& dims) {
  if (!call.has(input)) return {};
  std::vector<float> out(static_cast<size_t>(count(dims)));
  copy(Type::kFloat, dims, {call.at(input).data, strides_in(call.dims(input), dims)},
       {out.data(), strides_of(dims)});
  return out;
}

void run_layer_norm(const Call& call) {
  const Dims dims = normalised_dims(call);
  const std::vector<float> scale = stretched(call, 1, dims);
  const std::vector<float> bias = stretched(call, 2, dims);
  const double epsilon = call.node->number("epsilon", 1e-5F);
  const auto in = call.values<float>(0);
  if (in.empty()) return;
  const auto length = static_cast<size_t>(count(dims));
  for (size_t row = 0; row < in.size() / length; ++row) {
    const float* from = in.data() + row * length;
    const Moments moments = moments_of(from, static_cast<int64_t>(length));
    const double factor = 1 / std::sqrt(moments.variance + epsilon);
    if (call.wanted(1)) call.result<float>(1)[row] = static_cast<float>(moments.mean);
    if (call.wanted(2)) call.result<float>(2)[row] = static_cast<float>(factor);
    if (!call.wanted(0)) continue;
    float* to = call.result<float>(0).data() + row * length;
    apply(line_of(moments, epsilon, 1, 0), from, to, static_cast<int64_t>(length));
    for (size_t i = 0; i < length && !scale.empty(); ++i) to[i] *= scale[i];
    for (size_t i = 0; i < length && !bias.empty(); ++i) to[i] += bias[i];
  }
}

}  // namespace

constinit const Operator op::kLayerNormalization = {.name = "LayerNormalization",
                                                    .least_inputs = 2,
                                                    .most_inputs = 3,
                                                    .infer = infer_layer_norm,
                                                    .run = run_layer_norm};

}  // namespace hewn::flow
