#pragma once

#include <cstdint>
#include <memory>

#include "hewn/data/source.h"
#include "hewn/dist/communicator.h"
#include "hewn/nn/model.h"
#include "hewn/optimiser.h"
#include "hewn/pruner.h"
#include "hewn/run/observer.h"
#include "hewn/run/options.h"
#include "hewn/train/loop.h"
#include "hewn/train/tasks/task.h"

namespace hewn::train {

/// Everything that one training needs, built from its options: data, network, pruner, optimiser.
struct Workshop {
  run::Options options;
  at::Device device;
  std::unique_ptr<data::Source> source;
  std::shared_ptr<nn::Model> model;
  std::shared_ptr<const Task> task;
  std::shared_ptr<const Teacher> teacher;  // null where there is none, or where it is still to be trained
  int64_t steps = 0;
  std::unique_ptr<Pruner> pruner;
  std::unique_ptr<Optimiser> optimiser;
  std::shared_ptr<dist::Communicator> group;

  /// Throws Error for what does not go together, before anything is written.
  Workshop(const run::Options& given, run::Observer& observer,
           const std::shared_ptr<dist::Communicator>& with);

  const prune::Recipe& recipe() const { return pruner->recipe(); }
  const prune::Plan& plan() const { return pruner->plan(); }
  LoopOptions loop_options() const;
};

}  // namespace hewn::train
