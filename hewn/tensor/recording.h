#pragma once

#include <functional>
#include <memory>

namespace hewn::tensor {

/// Work on a GPU that was recorded as a CUDA graph: replayed, it takes as long as the GPU needs and not as
/// long as the CPU needs to launch it. Recordings share the memory they work in: one runs at a time, and what
/// it leaves there is gone with the next.
class Recording {
 public:
  /// Calls `work` a few times first: libraries choose their algorithms then. The current stream must be one
  /// that can be recorded. Throws Error in a build without CUDA.
  explicit Recording(const std::function<void()>& work);
  ~Recording();
  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;

  /// Queues it on the current stream.
  void replay() const;

 private:
  struct Graph;
  std::unique_ptr<Graph> graph_;
};

/// Milliseconds between the begin and the end of what `work` queues on the current stream, by the GPU's
/// clock. Waits for it.
double device_ms(const std::function<void()>& work);

}  // namespace hewn::tensor
