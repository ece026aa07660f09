#include "hewn/train/step/precision.h"

#include <ATen/autocast_mode.h>
#include <torch/version.h>

#include "hewn/core/error.h"

namespace hewn::train {
namespace {

#if TORCH_VERSION_MAJOR >= 2
void switch_autocast(bool cuda, bool on) {
  const at::DeviceType device = cuda ? at::kCUDA : at::kCPU;
  at::autocast::set_autocast_dtype(device, at::kBFloat16);
  at::autocast::set_autocast_enabled(device, on);
}
#else
void switch_autocast(bool cuda, bool on) {
  if (cuda) {
    at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
    at::autocast::set_enabled(on);
  } else {
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::set_cpu_enabled(on);
  }
}
#endif

}  // namespace

Precision parse_precision(const std::string& name) {
  if (name == "fp32") return Precision::kFp32;
  if (name == "bf16") return Precision::kBf16;
  throw Error(str("precision: expected fp32 or bf16, got \"", name, "\""));
}

Autocast::Autocast(Precision precision, c10::Device device)
    : on_(precision == Precision::kBf16), cuda_(device.is_cuda()) {
  if (!on_) return;
  switch_autocast(cuda_, true);
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  if (!on_) return;
  // Cast weights are kept for the pass; the next one must see the new weights.
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  switch_autocast(cuda_, false);
}

}  // namespace hewn::train
