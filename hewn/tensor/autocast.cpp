#include "hewn/tensor/autocast.h"

#include <ATen/autocast_mode.h>
#include <torch/version.h>

namespace hewn::tensor {

#if TORCH_VERSION_MAJOR >= 2
void set_autocast(bool cuda, bool on) {
  const at::DeviceType device = cuda ? at::kCUDA : at::kCPU;
  at::autocast::set_autocast_dtype(device, at::kBFloat16);
  at::autocast::set_autocast_enabled(device, on);
}

bool autocast_to_bf16() {
  return at::autocast::is_autocast_enabled(at::kCUDA) &&
         at::autocast::get_autocast_dtype(at::kCUDA) == at::kBFloat16;
}
#else
void set_autocast(bool cuda, bool on) {
  if (cuda) {
    at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
    at::autocast::set_enabled(on);
  } else {
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::set_cpu_enabled(on);
  }
}

bool autocast_to_bf16() {
  return at::autocast::is_enabled() && at::autocast::get_autocast_gpu_dtype() == at::kBFloat16;
}
#endif

}  // namespace hewn::tensor
