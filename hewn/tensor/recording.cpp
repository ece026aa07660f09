#include "hewn/tensor/recording.h"

#include "hewn/core/error.h"

#ifdef HEWN_CUDA
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include "hewn/tensor/capture.h"
#endif

namespace hewn::tensor {

#ifdef HEWN_CUDA

namespace {

constexpr int kCalls = 2;

/// The memory of the recordings that live at one time.
struct Pool {
  decltype(at::cuda::graph_pool_handle()) id = at::cuda::graph_pool_handle();
};

std::shared_ptr<const Pool> shared_pool() {
  static std::weak_ptr<const Pool> living;
  std::shared_ptr<const Pool> pool = living.lock();
  if (pool == nullptr) living = pool = std::make_shared<const Pool>();
  return pool;
}

}  // namespace

struct Recording::Graph {
  std::shared_ptr<const Pool> pool = shared_pool();
  at::cuda::CUDAGraph graph;
};

Recording::Recording(const std::function<void()>& work) : graph_(std::make_unique<Graph>()) {
  for (int i = 0; i < kCalls; ++i) work();
  c10::cuda::device_synchronize();
  // What these calls used would lie idle beside the recordings' own memory.
  c10::cuda::CUDACachingAllocator::emptyCache();
  capture(graph_->graph, graph_->pool->id, work);
}

void Recording::replay() const { graph_->graph.replay(); }

double device_ms(const std::function<void()>& work) {
  at::cuda::CUDAEvent begin(cudaEventDefault);
  at::cuda::CUDAEvent end(cudaEventDefault);
  begin.record();
  work();
  end.record();
  end.synchronize();
  return static_cast<double>(begin.elapsed_time(end));
}

#else

struct Recording::Graph {};

Recording::Recording(const std::function<void()>& /*work*/) {
  throw Error("[Recording] this build has no CUDA: configure with -DHEWN_CUDA=ON");
}

void Recording::replay() const {}

double device_ms(const std::function<void()>& /*work*/) {
  throw Error("[device_ms] this build has no CUDA: configure with -DHEWN_CUDA=ON");
}

#endif

Recording::~Recording() = default;
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;

}  // namespace hewn::tensor
