#include "hewn/tensor/device.h"

#include <torch/cuda.h>

#include <charconv>

#include "hewn/core/error.h"
#include "hewn/kernels/cuda/cuda.h"

namespace hewn::tensor {

c10::Device find_device(const std::string& name, int64_t local_rank) {
  if (name == "cpu") return c10::kCPU;
  if (name != "cuda" && !name.starts_with("cuda:")) {
    throw Error(str("device: expected cpu, cuda or cuda:N, got \"", name, "\""));
  }
  auto index = static_cast<int>(local_rank);
  if (name.starts_with("cuda:")) {
    const char* end = name.data() + name.size();
    const auto [stop, problem] = std::from_chars(name.data() + 5, end, index);
    if (problem != std::errc() || stop != end || index < 0) {
      throw Error(str("device: expected cuda:N with a number, got \"", name, "\""));
    }
  }
  if (!kernels::cuda::built()) {
    throw Error(str("device ", name, ": this build has no CUDA; configure with -DHEWN_CUDA=ON"));
  }
  const auto count = static_cast<int>(torch::cuda::device_count());
  if (index >= count) throw Error(str("device ", name, ": not there; CUDA devices found: ", count));
  return {c10::kCUDA, static_cast<c10::DeviceIndex>(index)};
}

}  // namespace hewn::tensor
