// Functions of one element without parameters: a line each.
#include "hewn/flow/op/elementwise/elementwise.h"

namespace hewn::flow {
namespace {

float softplus_of(float x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

void run_not(const Call& call) {
  map<bool>(call, [](bool x) { return !x; });
}

std::vector<Spec> infer_not(const Call& call) {
  call.expect(0, Type::kBool);
  return {call.spec(0)};
}

void run_is_nan(const Call& call) {
  map<float, bool>(call, [](float x) { return std::isnan(x); });
}

std::vector<Spec> infer_is_nan(const Call& call) {
  call.expect(0, Type::kFloat);
  return {{Type::kBool, call.dims(0)}};
}

}  // namespace

constinit const Operator op::kAbs =
    on_numbers<[](auto x) { return x <= 0 ? minus<decltype(x)>(0, x) : x; }>("Abs");
constinit const Operator op::kNeg = on_numbers<[](auto x) { return times<decltype(x)>(-1, x); }>("Neg");
constinit const Operator op::kRelu = on_numbers<[](auto x) { return x < 0 ? 0 : x; }>("Relu");
constinit const Operator op::kSign =
    on_numbers<[](auto x) { return static_cast<decltype(x)>(x > 0 ? 1 : (x < 0 ? -1 : x)); }>("Sign");

constinit const Operator op::kAcos = on_floats<[](float x) { return std::acos(x); }>("Acos");
constinit const Operator op::kAcosh = on_floats<[](float x) { return std::acosh(x); }>("Acosh");
constinit const Operator op::kAsin = on_floats<[](float x) { return std::asin(x); }>("Asin");
constinit const Operator op::kAsinh = on_floats<[](float x) { return std::asinh(x); }>("Asinh");
constinit const Operator op::kAtan = on_floats<[](float x) { return std::atan(x); }>("Atan");
constinit const Operator op::kAtanh = on_floats<[](float x) { return std::atanh(x); }>("Atanh");
constinit const Operator op::kCeil = on_floats<[](float x) { return std::ceil(x); }>("Ceil");
constinit const Operator op::kCos = on_floats<[](float x) { return std::cos(x); }>("Cos");
constinit const Operator op::kCosh = on_floats<[](float x) { return std::cosh(x); }>("Cosh");
constinit const Operator op::kErf = on_floats<[](float x) { return std::erf(x); }>("Erf");
constinit const Operator op::kExp = on_floats<[](float x) { return std::exp(x); }>("Exp");
constinit const Operator op::kFloor = on_floats<[](float x) { return std::floor(x); }>("Floor");
constinit const Operator op::kHardSwish =
    on_floats<[](float x) { return x * std::clamp(x / 6 + 0.5F, 0.0F, 1.0F); }>("HardSwish");
constinit const Operator op::kLog = on_floats<[](float x) { return std::log(x); }>("Log");
constinit const Operator op::kMish = on_floats<[](float x) { return x * std::tanh(softplus_of(x)); }>("Mish");
constinit const Operator op::kReciprocal = on_floats<[](float x) { return 1 / x; }>("Reciprocal");
// Halves go to the even neighbour, as the processor rounds unless told otherwise.
constinit const Operator op::kRound = on_floats<[](float x) { return std::nearbyint(x); }>("Round");
constinit const Operator op::kSigmoid = on_floats<[](float x) { return 1 / (1 + std::exp(-x)); }>("Sigmoid");
constinit const Operator op::kSin = on_floats<[](float x) { return std::sin(x); }>("Sin");
constinit const Operator op::kSinh = on_floats<[](float x) { return std::sinh(x); }>("Sinh");
constinit const Operator op::kSoftplus = on_floats<[](float x) { return softplus_of(x); }>("Softplus");
constinit const Operator op::kSoftsign = on_floats<[](float x) { return x / (1 + std::abs(x)); }>("Softsign");
constinit const Operator op::kSqrt = on_floats<[](float x) { return std::sqrt(x); }>("Sqrt");
constinit const Operator op::kTan = on_floats<[](float x) { return std::tan(x); }>("Tan");
constinit const Operator op::kTanh = on_floats<[](float x) { return std::tanh(x); }>("Tanh");

constinit const Operator op::kNot = {.name = "Not", .infer = infer_not, .run = run_not};
constinit const Operator op::kIsNaN = {.name = "IsNaN", .infer = infer_is_nan, .run = run_is_nan};

}  // namespace hewn::flow
