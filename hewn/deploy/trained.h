#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "hewn/core/preprocessing.h"
#include "hewn/export.h"
#include "hewn/flow/graph.h"
#include "hewn/nn/model.h"
#include "hewn/run/folder.h"
#include "hewn/run/observer.h"
#include "hewn/run/options.h"

namespace hewn::deploy {

/// A trained network, and what its files say of it.
struct Trained {
  std::shared_ptr<nn::Model> model;
  nn::Signature signature;
  std::string name;  // of the model
  std::string method;
  Weights weights;
  Preprocessing inputs;
  std::filesystem::path file;  // where the weights are from
  bool from_run = false;       // so it is the run's model.safetensors, which lists the kept blocks
  run::Options options;        // how the data that it was made for are read

  /// As the runtime wants it. Throws Error for a network that its graph has no words for.
  runtime::ModelData data() const;
  /// As a graph of general tensors: any network. Throws Error where a weight is not zero outside its kept
  /// blocks.
  flow::Graph graph() const;
  /// What files say of it beside its graph and weights.
  std::map<std::string, std::string> metadata() const;
};

/// That of a finished run.
Trained trained_by(const run::Folder& run);

/// One that was trained elsewhere: options.model with the weights in options.init, for options.data. The
/// observer hears what was taken from a checkpoint.
Trained trained_elsewhere(const run::Options& options, run::Observer& observer);

}  // namespace hewn::deploy
