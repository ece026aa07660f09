#include "hewn/kernels/reference/vector_math.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace hewn::kernels::reference {
namespace {

double of_one(Function function, double a, double b, double x) {
  switch (function) {
    case Function::kRelu:
      return x > 0 ? x : 0;
    case Function::kLeakyRelu:
      return x > 0 ? x : a * x;
    case Function::kClip:
      return std::min(std::max(x, a), b);
    case Function::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Function::kHardSigmoid:
      return std::max(0.0, std::min(1.0, a * x + b));
    case Function::kHardSwish:
      return x * std::max(0.0, std::min(1.0, x / 6 + 0.5));
    case Function::kSilu:
      return x / (1 + std::exp(-x));
    case Function::kTanh:
      return std::tanh(x);
    case Function::kExp:
      return std::exp(x);
    case Function::kErf:
      return std::erf(x);
    case Function::kGelu:
      return x * (1 + std::erf(x / std::numbers::sqrt2)) / 2;
    case Function::kGeluTanh:
      return x * (1 + std::tanh(std::sqrt(2 * std::numbers::inv_pi) * (x + 0.044715 * x * x * x))) / 2;
    case Function::kSqrt:
      return std::sqrt(x);
  }
  return x;
}

double of_two(Pair pair, double x, double y) {
  switch (pair) {
    case Pair::kAdd:
      return x + y;
    case Pair::kSub:
      return x - y;
    case Pair::kMul:
      return x * y;
    case Pair::kDiv:
      return x / y;
    case Pair::kMax:
      return std::max(x, y);
    case Pair::kMin:
      return std::min(x, y);
  }
  return x;
}

}  // namespace

void apply(Function function, float a, float b, const float* in, float* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(of_one(function, a, b, in[i]));
}

void combine(Pair pair, const float* x, int64_t x_step, const float* y, int64_t y_step, float* out,
             int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(of_two(pair, x[i * x_step], y[i * y_step]));
}

void softmax(const float* in, float* out, int64_t count) {
  if (count == 0) return;
  const double most = *std::max_element(in, in + count);
  double total = 0;
  for (int64_t i = 0; i < count; ++i) total += std::exp(in[i] - most);
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(std::exp(in[i] - most) / total);
}

float sum(const float* in, int64_t count) {
  double total = 0;
  for (int64_t i = 0; i < count; ++i) total += in[i];
  return static_cast<float>(total);
}

void normalise_columns(const ColumnNorm& norm, const float* in, float* out, int64_t columns) {
  for (int64_t c = 0; c < columns; ++c) {
    const auto x = [&](int64_t row) { return static_cast<double>(in[row * norm.stride + c]); };
    double mean = 0;
    for (int64_t row = 0; row < norm.rows; ++row) mean += x(row) / static_cast<double>(norm.rows);
    double variance = 0;
    for (int64_t row = 0; row < norm.rows; ++row) {
      variance += (x(row) - mean) * (x(row) - mean) / static_cast<double>(norm.rows);
    }
    const double factor = 1 / std::sqrt(variance + norm.epsilon);
    for (int64_t row = 0; row < norm.rows; ++row) {
      const double y =
          (x(row) - mean) * factor * norm.scale[row] + (norm.shift == nullptr ? 0 : norm.shift[row]);
      out[row * norm.stride + c] = static_cast<float>(y);
    }
  }
}

}  // namespace hewn::kernels::reference
