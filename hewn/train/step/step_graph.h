#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "hewn/data/source.h"

namespace hewn::train {

/// Records the work that a training step queues on a GPU as a CUDA graph, and replays it in later steps: a
/// step of many small kernels then takes as long as the GPU needs, not as long as the CPU needs to launch
/// them.
///
/// Only work whose launches do not depend on values can be recorded. Its inputs are copied to fixed places;
/// all else that it reads must lie where it lay.
class StepGraph {
 public:
  using Work = std::function<void(const data::Batch&)>;

  StepGraph();
  ~StepGraph();
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;

  /// Whether this build can record at all.
  static bool available();

  /// Does `work` on the batch: the first times by calling it, later by replay. Steps of the same `kind` queue
  /// the same work. A batch of another shape than the recorded one is worked on by calling.
  void run(int64_t kind, const data::Batch& batch, const Work& work);

 private:
  struct Recording;
  struct Pool;
  std::unique_ptr<Pool> pool_;
  std::map<int64_t, Recording> recordings_;
};

/// While it lives, LibTorch queues this thread's work for a GPU on a stream that can be recorded, which the
/// default stream cannot. Both ends wait for the GPU. Does nothing for the CPU.
class RecordableStream {
 public:
  explicit RecordableStream(c10::Device device);
  ~RecordableStream();
  RecordableStream(const RecordableStream&) = delete;
  RecordableStream& operator=(const RecordableStream&) = delete;

 private:
  struct Guard;
  std::unique_ptr<Guard> guard_;
};

}  // namespace hewn::train
