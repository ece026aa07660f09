#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "hewn/data/source.h"
#include "hewn/dist/communicator.h"
#include "hewn/nn/model.h"
#include "hewn/optimiser.h"
#include "hewn/pruner.h"
#include "hewn/run/observer.h"
#include "hewn/train/average.h"
#include "hewn/train/checkpoint.h"
#include "hewn/train/learning_rate.h"
#include "hewn/train/step/step.h"

namespace hewn::train {

/// What a loop works on. Owned by the caller.
struct LoopParts {
  nn::Model& model;
  data::Source& source;
  Pruner& pruner;
  Optimiser& optimiser;
  CheckpointStore& checkpoints;
  run::Observer& observer;
  std::shared_ptr<dist::Communicator> group;
};

struct LoopOptions {
  StepOptions step;
  LearningRate rate;
  int64_t steps = 0;
  int64_t batch = 0;
  double ema = 0;  // decay of the average of weights that becomes the network; 0: none
  int64_t log_every = 50;
  int64_t eval_every = 0;                 // steps
  int64_t checkpoint_every = 0;           // steps
  data::Part part = data::Part::kTest;    // that is evaluated
  std::optional<run::Course> later = {};  // of a training that comes behind this one
};

/// What such a training has before it after so many steps.
run::Course course_of(const prune::Schedule& schedule, const LoopOptions& options, const data::Source& source,
                      int64_t step);

/// Trains from where it stands to the last step.
class Loop {
 public:
  Loop(const LoopParts& parts, const LoopOptions& options);

  /// Continues after a checkpoint.
  void restore(const Checkpoint& checkpoint, const std::string& where);
  /// Throws Stopped, with a checkpoint written, where an observer asks for that.
  void run();

  int64_t step() const { return step_; }
  double seconds() const;

 private:
  void train_step();
  void report();
  void evaluate_now();
  bool asked_to_stop() const;
  [[noreturn]] void stop();
  void look_at_losses() const;
  void check_losses(const at::Tensor& losses, int64_t begin) const;
  void check_weights() const;
  [[noreturn]] void diverged(int64_t step, const std::string& what) const;
  void save();
  /// Losses and right answers not reported yet, over all processes.
  std::pair<at::Tensor, at::Tensor> totals() const;

  LoopParts parts_;
  LoopOptions options_;
  Step work_;
  std::unique_ptr<WeightAverage> average_;  // null where none is asked for
  int64_t step_ = 0;                        // steps done
  int64_t pending_ = 0;                     // of them, steps not reported yet
  int64_t saved_ = 0;                       // steps done at the newest checkpoint
  bool unevaluated_ = false;                // the evaluation that is due after step_ was stopped
  at::Tensor losses_;                       // of the steps not reported yet, on the device
  at::Tensor correct_;
  double first_loss_ = 0;  // mean of the first report
  double seconds_before_ = 0;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace hewn::train
