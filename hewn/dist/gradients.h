#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "hewn/dist/communicator.h"

namespace hewn::dist {

/// Averages gradients over all processes while the backward pass still runs: they are gathered into buckets
/// in the order in which they are expected, last layer first, and a full bucket is sent at once.
class GradientAverage {
 public:
  /// `leaves` in the order of the forward pass. `tables` have sparse gradients, the rows that a process
  /// touched; they are exchanged after the backward pass.
  GradientAverage(const std::vector<at::Tensor>& leaves, const std::vector<at::Tensor>& tables,
                  std::shared_ptr<Communicator> communicator, int64_t bucket_bytes = int64_t{25} << 20);
  ~GradientAverage();
  GradientAverage(const GradientAverage&) = delete;
  GradientAverage& operator=(const GradientAverage&) = delete;

  /// Call before the backward pass that completes the gradients, and finish() after it. Between them buckets
  /// are sent. Afterwards every process has the same gradients.
  void start();
  void finish();

  int64_t buckets() const;
  /// Of the last bucket, which is sent when the backward pass is over.
  int64_t last_numbers() const;

 private:
  class State;
  std::shared_ptr<State> state_;  // shared with the hooks on the leaves
};

}  // namespace hewn::dist
