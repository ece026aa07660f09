#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "hewn/core/preprocessing.h"
#include "hewn/flow/model_file.h"
#include "hewn/flow/network.h"
#include "hewn/runtime/model.h"

namespace hewn::deploy {

/// A network that answers samples, whatever its file holds: layers of kept blocks, or a graph of general
/// tensors with one input of samples and one row of outputs for each.
class OpenModel {
 public:
  OpenModel(runtime::Model model);  // NOLINT(google-explicit-constructor): a model is one
  /// `vocabularies`: of the whole numbers that the graph takes, where it does. Throws Error where it has
  /// other inputs and outputs.
  OpenModel(flow::Graph graph, int64_t block, Preprocessing inputs, std::vector<int64_t> vocabularies);

  // As runtime::Model describes them.
  std::array<int64_t, 3> input_shape() const { return shape_; }
  int64_t inputs() const { return shape_[0] * shape_[1] * shape_[2]; }
  int64_t outputs() const { return outputs_; }
  const std::vector<int64_t>& vocabularies() const { return vocabularies_; }
  const std::vector<std::string>& classes() const { return about_.classes; }
  const Json& preprocessing() const { return about_.rule; }
  const Arrays& arrays() const { return about_.arrays; }
  void set_threads(int threads);
  void run(const float* input, int64_t batch, float* output);

 private:
  void run_network(flow::Network& network, const float* input, int64_t batch, float* output);

  std::variant<runtime::Model, flow::Network> network_;
  std::array<int64_t, 3> shape_;
  int64_t outputs_ = 0;
  Preprocessing about_;
  std::vector<int64_t> vocabularies_;
};

/// A model.hewn file of any version, or the network of a finished run's folder. `threads`: 0 are all cores.
/// Throws Error for a network that takes or gives anything else than samples.
OpenModel open_model(const std::filesystem::path& path, int64_t threads);

}  // namespace hewn::deploy
