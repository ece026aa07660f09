#pragma once

#include <cstdint>
#include <functional>

#include "hewn/convex/layer.h"
#include "hewn/deploy/select/select_layer_options.h"
#include "hewn/run/folder.h"
#include "hewn/train/tasks/task.h"

namespace hewn::deploy {

struct LayerSelection {
  Grid grid;
  int64_t samples = 0;
  int64_t rows = 0;  // inputs of the layer that they gave
  double ridge = 0;
  convex::LayerChoice choice;
  data::Part part = data::Part::kTest;  // what before and after were found on
  run::Metrics before;
  run::Metrics after;
  double gather_seconds = 0;  // of running the samples
  double choose_seconds = 0;
};

/// Keeps the blocks of a layer that reproduce its outputs on training samples best, with the weights that fit
/// them, and writes the network as a finished run where `out` is given. `progress` is told how many steps of
/// how many are done. Throws Error naming the option that does not fit.
LayerSelection select_layer(const run::Folder& run, const SelectLayerOptions& options,
                            const std::function<void(int, int)>& progress);

}  // namespace hewn::deploy
