#include "hewn/tensor/threads.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <sched.h>

#include <algorithm>

#include "hewn/core/error.h"

namespace hewn::tensor {

int64_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

int64_t set_threads(int64_t threads, int64_t processes_here) {
  if (threads < 0) throw Error(str("threads: expected 0 or more, got ", threads));
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
