#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hewn::nn {

/// What the inputs of a network are: values (images, rows of a table), the number of each field's value in a
/// click log, or the numbers of characters, where every position has outputs of its own.
enum class Takes : uint8_t { kValues, kClicks, kText };

/// What goes in and out of a network: one input's shape and the number of outputs.
struct Signature {
  std::vector<int64_t> input;
  int64_t outputs = 0;
  Takes takes = Takes::kValues;
  std::vector<int64_t> vocabularies = {};  // clicks: how many values each field takes; empty: not known yet
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
