#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hewn::nn {

/// What goes in and out of a network: one input's shape and the number of outputs.
struct Signature {
  std::vector<int64_t> input;
  int64_t outputs = 0;
  bool clicks = false;                     // inputs are numbers of values, one per field
  std::vector<int64_t> vocabularies = {};  // how many values each field takes; empty: not known yet
};

/// What is known of a model without building it.
struct ModelFacts {
  std::string_view name;
  std::string_view help;
  Signature usual;  // what it is made for, where no data set says otherwise
  bool normalised;  // has normalisation layers
};
const std::vector<ModelFacts>& model_facts();

/// What the model of that name is made for, where no data set says otherwise. Throws Error where there is
/// none.
const Signature& usual_signature(const std::string& model);

/// Whether the model of that name has normalisation layers, whatever its options.
bool usually_normalised(const std::string& model);

}  // namespace hewn::nn
