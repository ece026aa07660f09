// Functions of one element with parameters.
#include <limits>

#include "hewn/flow/op/elementwise/elementwise.h"

namespace hewn::flow {
namespace {

void run_leaky_relu(const Call& call) {
  const float alpha = call.node->number("alpha", 0.01F);
  map<float>(call, [=](float x) { return x < 0 ? alpha * x : x; });
}

void run_elu(const Call& call) {
  const float alpha = call.node->number("alpha", 1);
  map<float>(call, [=](float x) { return x < 0 ? alpha * std::expm1(x) : x; });
}

void run_celu(const Call& call) {
  const float alpha = call.node->number("alpha", 1);
  map<float>(call, [=](float x) { return x < 0 ? alpha * std::expm1(x / alpha) : x; });
}

void run_selu(const Call& call) {
  const float alpha = call.node->number("alpha", 1.67326319F);
  const float gamma = call.node->number("gamma", 1.05070102F);
  map<float>(call, [=](float x) { return gamma * (x > 0 ? x : alpha * std::expm1(x)); });
}

void run_thresholded_relu(const Call& call) {
  const float alpha = call.node->number("alpha", 1);
  map<float>(call, [=](float x) { return x > alpha ? x : 0.0F; });
}

void run_hard_sigmoid(const Call& call) {
  const float alpha = call.node->number("alpha", 0.2F);
  const float beta = call.node->number("beta", 0.5F);
  map<float>(call, [=](float x) { return std::clamp(alpha * x + beta, 0.0F, 1.0F); });
}

bool gelu_by_tanh(const Call& call) {
  const std::string way = call.node->text("approximate", "none");
  if (way != "none" && way != "tanh") throw call.bad("approximate is neither none nor tanh");
  return way == "tanh";
}

std::vector<Spec> infer_gelu(const Call& call) {
  gelu_by_tanh(call);
  return same_floats(call);
}

void run_gelu(const Call& call) {
  if (gelu_by_tanh(call)) {
    return map<float>(
        call, [](float x) { return 0.5F * x * (1 + std::tanh(0.79788456F * (x + 0.044715F * x * x * x))); });
  }
  map<float>(call, [](float x) { return 0.5F * x * (1 + std::erf(x * 0.70710678F)); });
}

std::vector<Spec> infer_clip(const Call& call) {
  call.expect_number(0);
  for (size_t bound = 1; bound <= 2; ++bound) {
    if (!call.has(bound)) continue;
    call.expect(bound, call.type(0));
    call.expect_one(bound);
  }
  return {call.spec(0)};
}

template <class T>
void clip_of(const Call& call) {
  using Limits = std::numeric_limits<T>;
  const T infinite = Limits::has_infinity ? Limits::infinity() : Limits::max();
  const T lowest = call.has(1) ? call.values<T>(1)[0] : (Limits::has_infinity ? -infinite : Limits::lowest());
  const T highest = call.has(2) ? call.values<T>(2)[0] : infinite;
  map<T>(call, [=](T x) {
    const T up = x < lowest ? lowest : x;
    return up > highest ? highest : up;
  });
}

void run_clip(const Call& call) {
  call.type(0) == Type::kFloat ? clip_of<float>(call) : clip_of<int64_t>(call);
}

constexpr Operator with_parameters(std::string_view name, void (*run)(const Call&)) {
  return {.name = name, .infer = same_floats, .run = run};
}

}  // namespace

constinit const Operator op::kCelu = with_parameters("Celu", run_celu);
constinit const Operator op::kClip = {.name = "Clip", .most_inputs = 3, .infer = infer_clip, .run = run_clip};
constinit const Operator op::kElu = with_parameters("Elu", run_elu);
constinit const Operator op::kGelu = {.name = "Gelu", .infer = infer_gelu, .run = run_gelu};
constinit const Operator op::kHardSigmoid = with_parameters("HardSigmoid", run_hard_sigmoid);
constinit const Operator op::kLeakyRelu = with_parameters("LeakyRelu", run_leaky_relu);
constinit const Operator op::kSelu = with_parameters("Selu", run_selu);
constinit const Operator op::kThresholdedRelu = with_parameters("ThresholdedRelu", run_thresholded_relu);

}  // namespace hewn::flow
