#include "hewn/train/step/precision.h"

#include <ATen/autocast_mode.h>

#include "hewn/core/error.h"
#include "hewn/tensor/autocast.h"

namespace hewn::train {

Precision parse_precision(const std::string& name) {
  if (name == "fp32") return Precision::kFp32;
  if (name == "bf16") return Precision::kBf16;
  throw Error(str("precision: expected fp32 or bf16, got \"", name, "\""));
}

Autocast::Autocast(Precision precision, c10::Device device)
    : on_(precision == Precision::kBf16), cuda_(device.is_cuda()) {
  if (!on_) return;
  tensor::set_autocast(cuda_, true);
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  if (!on_) return;
  // Cast weights are kept for the pass; the next one must see the new weights.
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  tensor::set_autocast(cuda_, false);
}

}  // namespace hewn::train
