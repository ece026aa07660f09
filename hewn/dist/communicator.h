#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <memory>
#include <vector>

#include "hewn/dist/place.h"

namespace hewn::dist {

/// Work that was started and is not waited for yet.
class Pending {
 public:
  virtual ~Pending() = default;
  /// Throws Error, naming the rank, where another process was lost.
  virtual void wait() = 0;
};

/// What processes that train together say to each other. All of them must call the same functions in the same
/// order, with tensors of the same shapes.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual const Place& place() const = 0;
  /// Where the tensors that are sent must be.
  virtual at::Device device() const = 0;

  /// Sums a tensor over all processes, in place.
  virtual std::unique_ptr<Pending> start_sum(const at::Tensor& tensor) = 0;
  /// Gives everyone rank 0's values.
  virtual void broadcast(const at::Tensor& tensor) = 0;
  /// Everyone's tensor, by rank.
  virtual std::vector<at::Tensor> gather(const at::Tensor& tensor) = 0;

  void sum(const at::Tensor& tensor) { start_sum(tensor)->wait(); }
};

/// A process that trains alone: nothing is sent.
std::shared_ptr<Communicator> alone();

struct JoinOptions {
  at::Device device = at::kCPU;       // of the tensors: Gloo on a CPU, NCCL on CUDA
  std::chrono::seconds patience{30};  // for another process that does not answer
};

/// Meets the other processes. Throws Error where they do not come, or where this build has no way to talk to
/// them.
std::shared_ptr<Communicator> join(const Place& place, const JoinOptions& options);

}  // namespace hewn::dist
