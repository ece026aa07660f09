#pragma once

#include <cstdint>

namespace hewn::kernels {

/// Functions of one number; `a` and `b` are what some of them take besides.
enum class Function {
  kRelu,
  kLeakyRelu,  // a: slope below zero
  kClip,       // to [a, b]
  kSigmoid,
  kHardSigmoid,  // max(0, min(1, a x + b))
  kHardSwish,    // x max(0, min(1, x / 6 + 1 / 2))
  kSilu,         // x sigmoid(x)
  kTanh,
  kExp,
  kErf,
  kGelu,      // x (1 + erf(x / sqrt 2)) / 2
  kGeluTanh,  // x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
  kSqrt,
};

/// What happens to every number of a product that comes out, where it is `on`.
struct Activation {
  bool on = false;
  Function function = Function::kRelu;
  float a = 0;
  float b = 0;
};

/// Functions of two numbers.
enum class Pair { kAdd, kSub, kMul, kDiv, kMax, kMin };

/// out[i] = f(in[i]) for `count` numbers; out may be in.
void apply(Function function, float a, float b, const float* in, float* out, int64_t count);

/// out[i] = f(x[i * x_step], y[i * y_step]); a step is 0 or 1. out may be x or y.
void combine(Pair pair, const float* x, int64_t x_step, const float* y, int64_t y_step, float* out,
             int64_t count);

/// out[i] = exp(in[i]) / sum of all. out may be in.
void softmax(const float* in, float* out, int64_t count);

/// The sum of `count` numbers.
float sum(const float* in, int64_t count);

/// For each of `columns` columns of `rows` numbers, `stride` floats from one to the next: minus its mean,
/// over the root of its variance plus epsilon, times scale[row], plus shift[row] (may be null). out may be
/// in.
struct ColumnNorm {
  int64_t rows = 0;
  int64_t stride = 0;
  const float* scale = nullptr;
  const float* shift = nullptr;
  float epsilon = 0;
};
void normalise_columns(const ColumnNorm& norm, const float* in, float* out, int64_t columns);

}  // namespace hewn::kernels
