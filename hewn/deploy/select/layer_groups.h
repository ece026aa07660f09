#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hewn/deploy/advice_options.h"
#include "hewn/measure/compare.h"
#include "hewn/measure/layer.h"
#include "hewn/nn/trace.h"

namespace hewn::deploy {

/// A prunable layer of the model, with all others of the same shape.
struct LayerTime {
  std::vector<std::string> names;
  std::string shape;
  double dense_ms = 0;  // of one of them
  std::string dense_baseline;
};

/// Layers of one shape, which are timed once.
struct LayerGroup {
  nn::LayerUse use;  // the first of them
  LayerTime time;
};
std::vector<LayerGroup> groups_of(const std::vector<nn::LayerUse>& uses);

/// The layer as it is timed, with random weights and activations.
std::unique_ptr<measure::Layer> timed_layer(const nn::LayerUse& use, const AdviceOptions& options);

/// How often something was timed, and how often other programs never left it alone.
struct Turmoil {
  int64_t timed = 0;
  int64_t disturbed = 0;

  /// Why times cannot be compared; "" where they can.
  std::string why_withheld() const;
};

/// The fastest of some ways and its time.
measure::Candidate fastest(const std::vector<measure::Contender>& ways, int64_t rounds, Turmoil& turmoil);

}  // namespace hewn::deploy
