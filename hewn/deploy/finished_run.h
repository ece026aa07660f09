#pragma once

#include <memory>

#include "hewn/core/blocks.h"
#include "hewn/nn/model.h"
#include "hewn/prune/plan.h"
#include "hewn/run/config.h"
#include "hewn/tensor/tensor_file.h"

namespace hewn::deploy {

/// A run that was started: what its config.json says, and that network with the weights that it began with.
struct StartedRun {
  run::Folder folder;
  run::Config config;
  std::shared_ptr<nn::Model> model;

  /// Throws Error where the folder is no run, FormatError where it is damaged.
  static StartedRun open(const run::Folder& folder);

  /// What the run's options prune.
  prune::Plan plan() const;
};

/// A run that has ended: the one way to its network. Everything is on the CPU.
struct FinishedRun : StartedRun {
  tensor::TensorFile file;  // model.safetensors
  Blocks blocks;            // of layers that are pruned

  /// The model has the file's weights. Throws Error where the run has not ended, FormatError where a file of
  /// it is damaged or does not fit its model.
  static FinishedRun open(const run::Folder& folder);
};

}  // namespace hewn::deploy
