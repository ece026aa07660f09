#pragma once

#include <memory>

#include "hewn/measure/network.h"
#include "hewn/nn/model.h"
#include "hewn/run/options.h"
#include "hewn/runtime/model_file.h"

namespace hewn::deploy {

/// A network as training would leave it, but with random weights, statistics and kept blocks: as fast as a
/// trained one of the same plan.
struct RandomNetwork {
  std::shared_ptr<nn::Model> model;                // in evaluation mode, zeros where blocks were dropped
  std::shared_ptr<nn::Model> model_channels_last;  // a copy; null where there are no convolutions
  runtime::ModelData data;                         // the same, exported
};

/// What would be pruned. Throws Error for options that fit no plan.
prune::Plan network_plan(const run::Options& options, const nn::Signature& signature);

/// Fields of a click log whose vocabularies are not known get 1000 values each.
RandomNetwork random_network(const run::Options& options, const nn::Signature& signature);

/// The LibTorch model itself, in every memory order it has.
measure::MoreWays model_ways(const RandomNetwork& network);

}  // namespace hewn::deploy
