#include "hewn/tensor/device.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <sched.h>
#include <torch/cuda.h>

#include <algorithm>
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

int64_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

int64_t set_threads(int64_t threads, int64_t processes_here) {
  constexpr int64_t kMost = 1024;
  if (threads < 0 || threads > kMost) throw Error(str("threads: expected 0 to ", kMost, ", got ", threads));
  const int64_t share = std::max<int64_t>(1, usable_cores() / processes_here);
  const int64_t count = threads == 0 ? share : threads;
  at::set_num_threads(static_cast<int>(count));
  // OpenBLAS has a thread pool of its own, which LibTorch's setting does not reach.
  using SetThreads = void (*)(int);
  if (const auto set = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) {
    set(static_cast<int>(count));
  }
  return count;
}

}  // namespace hewn::tensor
