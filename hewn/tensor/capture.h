#pragma once

#include <ATen/cuda/CUDAGraph.h>

#include <exception>
#include <functional>

namespace hewn::tensor {

/// Records what `work` queues on the current stream; other threads may use the GPU meanwhile. Where `work`
/// throws, the recording ends, and what it threw goes on.
template <class Pool>
void capture(at::cuda::CUDAGraph& graph, const Pool& pool, const std::function<void()>& work) {
  graph.capture_begin(pool, cudaStreamCaptureModeThreadLocal);
  try {
    work();
  } catch (...) {
    try {
      graph.capture_end();
    } catch (const std::exception&) {
      // It says that nothing whole was recorded: the reason is what `work` threw.
    }
    throw;
  }
  graph.capture_end();
}

}  // namespace hewn::tensor
