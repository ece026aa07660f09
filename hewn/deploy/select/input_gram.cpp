#include "hewn/deploy/select/input_gram.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace hewn::deploy {
namespace {

// Numbers of unfolded images that are in memory at a time.
constexpr int64_t kPiece = int64_t{1} << 23;

}  // namespace

InputGram::InputGram(const prune::WeightSlot& slot) : slot_(slot) {
  const int64_t inputs = slot.leaf[0].numel();
  const auto options = slot.leaf.options().dtype(at::kDouble).requires_grad(false);
  products_ = at::zeros({inputs, inputs}, options);
  sum_ = at::zeros({inputs}, options);
  slot_.watch([this](const at::Tensor& input) { see(input); });
}

InputGram::~InputGram() { slot_.watch(nullptr); }

void InputGram::see(const at::Tensor& input) {
  const at::NoGradGuard no_grad;
  // An image has about as many rows as pixels.
  const int64_t rows_each = input.dim() == 4 ? input.size(2) * input.size(3) : 1;
  const int64_t step = std::max<int64_t>(1, kPiece / (rows_each * sum_.numel()));
  for (int64_t first = 0; first < input.size(0); first += step) {
    const at::Tensor piece = input.narrow(0, first, std::min(step, input.size(0) - first));
    const at::Tensor x = slot_.rows(piece).to(at::kDouble);
    products_ += at::mm(x.t(), x);
    sum_ += x.sum(0);
    rows_ += x.size(0);
  }
}

at::Tensor InputGram::mean() const { return (sum_ / static_cast<double>(rows_)).to(at::kCPU); }

at::Tensor InputGram::gram(bool centred) const {
  const at::Tensor all = (products_ / static_cast<double>(rows_)).to(at::kCPU);
  return centred ? all - at::outer(mean(), mean()) : all;
}

}  // namespace hewn::deploy
