#pragma once

#include <filesystem>
#include <vector>

#include "hewn/deploy/trained.h"
#include "hewn/flow/int8/quantise.h"
#include "hewn/flow/shrink/shrink.h"

namespace hewn::deploy {

/// Inputs of a graph in batches: one tensor for each of its inputs.
using InputBatches = std::vector<std::vector<flow::Tensor>>;

/// Training samples of the data that a network was made for, as it sees them in evaluation: the first
/// `count` of the first epoch, in the order that their seed gives. Throws Error where there are none.
InputBatches training_inputs(const Trained& trained, int64_t count, run::Observer& observer);

/// What was written.
struct Int8Export {
  flow::Graph graph;
  std::vector<flow::QuantisedLayer> layers;
  flow::Shrunk removed;     // units that no output depends on
  int64_t block = 0;        // of the zeros that are left out; 0: of 4 to 32
  int64_t bytes = 0;        // of the file
  int64_t bytes_dense = 0;  // of all weights, as 32-bit floats
};

/// Writes a model.hewn file whose products are in 8 bits; ranges of activations are found on `batches`.
Int8Export export_int8(const Trained& trained, const std::filesystem::path& to, const InputBatches& batches,
                       const flow::QuantiseOptions& options);

}  // namespace hewn::deploy
