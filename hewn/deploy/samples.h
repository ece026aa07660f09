#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/deploy/predict.h"

namespace hewn::deploy {

/// Inputs of a model, ready to run.
struct Samples {
  int64_t count = 0;
  std::vector<float> values;  // count x inputs
};

/// Adds the samples of a file that is PATH or NAME=PATH, where NAME is that of the model's input. By its
/// content the file is NPY (samples x inputs, these in any shape; or one sample), NPZ with the array "input",
/// or CSV with a sample a row. A model that was trained on a table takes rows of one like it, as they are.
/// Throws FormatError, naming the place, for numbers that the model does not
/// take.
void add_samples(const std::string& argument, const OpenModel& model, Samples& samples);

/// The same for the bytes of an NPY or a CSV file, called `where` in errors.
void add_samples(std::string_view bytes, const std::string& where, const OpenModel& model, Samples& samples);

/// Runs them through the model, so many at a time; no more than `limit`, where it is not 0.
Predictions predict(OpenModel& model, const Samples& samples, int64_t batch, int64_t limit);

}  // namespace hewn::deploy
