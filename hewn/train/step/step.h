#pragma once

#include <memory>
#include <string>

#include "hewn/data/source.h"
#include "hewn/dist/gradients.h"
#include "hewn/nn/model.h"
#include "hewn/optimiser.h"
#include "hewn/pruner.h"
#include "hewn/train/step/precision.h"
#include "hewn/train/step/step_graph.h"
#include "hewn/train/step/teacher.h"
#include "hewn/train/tasks/task.h"

namespace hewn::train {

/// What a step works on. Owned by the caller.
struct StepParts {
  nn::Model& model;
  Pruner& pruner;
  Optimiser& optimiser;
  std::shared_ptr<dist::Communicator> group;
};

struct StepOptions {
  std::shared_ptr<const Task> task;
  int64_t accumulate = 1;  // parts in which a batch is worked through
  Precision precision = Precision::kFp32;
  bool graphs = false;  // record steps on a GPU and replay them, where that is possible
  std::shared_ptr<const Teacher> teacher = nullptr;
};

/// One step of training: gates, forward pass, backward pass, update. Nothing in it waits for the GPU.
class Step {
 public:
  Step(const StepParts& parts, const StepOptions& options);

  /// After pruner.advance.
  void run(const data::Batch& batch, double lr);

  /// Of the last step, on the device.
  const at::Tensor& loss() const { return loss_; }
  /// How many answers of the last step were right, on the device.
  const at::Tensor& correct() const { return correct_; }
  /// Whether steps are recorded and replayed.
  bool records() const { return graph_ != nullptr; }
  /// Why steps on a GPU are launched although they were to be recorded; "" where that is not so.
  const std::string& obstacle() const { return obstacle_; }

 private:
  void work(const data::Batch& batch);
  void compute_gradients(const data::Batch& batch);

  StepParts parts_;
  StepOptions options_;
  std::unique_ptr<dist::GradientAverage> gradients_;  // null where the process is alone
  std::string obstacle_;
  std::unique_ptr<StepGraph> graph_;  // null where steps are not recorded
  at::Tensor loss_;
  at::Tensor correct_;
};

}  // namespace hewn::train
