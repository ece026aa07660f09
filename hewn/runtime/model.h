#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hewn/flow/network.h"
#include "hewn/runtime/look_up.h"
#include "hewn/runtime/model_file.h"

namespace hewn::runtime {

/// A model.hewn file, ready to run. A model has buffers of its own, so use it from one thread at a time;
/// copies share the weights and are cheap: make one per thread.
class Model {
 public:
  /// Throws Error where the file cannot be read, FormatError where it is not what it should be.
  static Model load(const std::filesystem::path& path, const Limits& limits = {});
  /// From data in memory that load() would have accepted. Throws Error beyond `limits`.
  explicit Model(ModelData data, const Limits& limits = {});
  Model(const Model& other) = default;
  Model& operator=(const Model& other) = default;
  Model(Model&&) = default;
  Model& operator=(Model&&) = default;
  ~Model() = default;

  /// Channels, height, width of one sample.
  std::array<int64_t, 3> input_shape() const;
  int64_t inputs() const { return about_->input.elements(); }
  int64_t outputs() const { return about_->outputs; }
  /// How many values each input takes, where they are numbers of values that embeddings look up; else empty.
  const std::vector<int64_t>& vocabularies() const { return about_->vocabularies; }
  /// Names of the outputs, or of no and yes where there is one output; empty where the file has none.
  const std::vector<std::string>& classes() const { return about_->classes; }
  /// How inputs are made, as docs/formats.md describes it; null where the file does not say it.
  const Json& preprocessing() const { return about_->preprocessing; }
  /// Numbers that preprocessing() needs.
  const Arrays& arrays() const { return about_->arrays; }
  /// What else the file says, for people.
  const std::map<std::string, std::string>& metadata() const { return about_->metadata; }

  /// 0, which is the default: all cores that this process may use.
  void set_threads(int threads);
  int threads() const { return network_.threads(); }

  /// `input`: batch x channels x height x width; `output`: batch x outputs(). Both row-major, with no gaps.
  /// With vocabularies() an input is a whole number, from 0 to below its vocabulary; a sample with anything
  /// else among them comes out as NaN.
  void run(const float* input, int64_t batch, float* output);

 private:
  struct About {
    Shape input;
    int64_t outputs = 0;
    int64_t most_samples = 1;      // that run at a time, so that no tensor is too large
    std::vector<LookUp> look_ups;  // the network's inputs, where it takes values of fields
    std::vector<int64_t> vocabularies;
    std::vector<std::string> classes;
    Json preprocessing;
    Arrays arrays;
    std::map<std::string, std::string> metadata;
  };

  /// Of a call: where inputs and outputs lie, and what was looked up. A copy of a model begins with its own.
  struct Room {
    explicit Room(size_t look_ups) : inputs(std::max<size_t>(look_ups, 1)), outputs(1), looked_up(look_ups) {}
    Room(const Room& other) : Room(other.looked_up.size()) {}
    Room& operator=(const Room& other) { return *this = Room(other); }
    Room(Room&&) = default;
    Room& operator=(Room&&) = default;
    ~Room() = default;

    std::vector<flow::Tensor> inputs;
    std::vector<flow::Tensor> outputs;
    std::vector<std::vector<float>> looked_up;
    std::vector<uint8_t> known;  // of each sample, whether its values are
  };

  static About about(ModelData& data, const Limits& limits);
  void run_slice(const float* input, int64_t batch, float* output);
  void look_up(const float* input, int64_t batch);

  std::shared_ptr<const About> about_;
  flow::Network network_;
  Room room_;
};

}  // namespace hewn::runtime
