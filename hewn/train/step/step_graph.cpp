#include "hewn/train/step/step_graph.h"

#include <ATen/cuda/CUDAGraph.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

#include "hewn/tensor/capture.h"

namespace hewn::train {
namespace {

// Steps before recording: libraries choose algorithms and allocate workspaces in the first ones.
constexpr int kCalls = 3;

bool same_shape(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.strides() == b.strides() && a.scalar_type() == b.scalar_type();
}

}  // namespace

struct StepGraph::Recording {
  int calls = 0;
  data::Batch batch;  // from where the recorded work reads
  std::unique_ptr<at::cuda::CUDAGraph> graph;
};

/// The memory that recordings allocate from. They never run at the same time and leave nothing there that is
/// needed later, so they share it.
struct StepGraph::Pool {
  decltype(at::cuda::graph_pool_handle()) id = at::cuda::graph_pool_handle();
};

StepGraph::StepGraph() : pool_(std::make_unique<Pool>()) {}
StepGraph::~StepGraph() = default;
bool StepGraph::available() { return true; }

void StepGraph::run(int64_t kind, const data::Batch& batch, const Work& work) {
  Recording& recording = recordings_[kind];
  if (recording.calls < kCalls) {
    ++recording.calls;
    work(batch);
    return;
  }
  if (recording.graph == nullptr) {
    recording.batch = {at::empty_like(batch.input), at::empty_like(batch.target)};
    // What the first steps used would lie idle beside the recordings' own memory.
    c10::cuda::CUDACachingAllocator::emptyCache();
    auto graph = std::make_unique<at::cuda::CUDAGraph>();
    tensor::capture(*graph, pool_->id, [&] { work(recording.batch); });
    recording.graph = std::move(graph);
  }
  if (!same_shape(recording.batch.input, batch.input) || !same_shape(recording.batch.target, batch.target)) {
    work(batch);
    return;
  }
  recording.batch.input.copy_(batch.input);
  recording.batch.target.copy_(batch.target);
  recording.graph->replay();
}

struct RecordableStream::Guard {
  explicit Guard(const c10::cuda::CUDAStream& on) : stream(on) {}
  c10::cuda::CUDAStreamGuard stream;
};

RecordableStream::RecordableStream(c10::Device device) {
  if (!device.is_cuda()) return;
  c10::cuda::device_synchronize();
  guard_ = std::make_unique<Guard>(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index()));
}

RecordableStream::~RecordableStream() {
  if (!guard_) return;
  try {
    c10::cuda::device_synchronize();
  } catch (const std::exception&) {
    // Whoever uses the GPU next hears of it.
  }
}

}  // namespace hewn::train
