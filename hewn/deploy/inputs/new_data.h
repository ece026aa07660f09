#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <string>
#include <vector>

#include "hewn/deploy/predict.h"

namespace hewn::deploy {

struct NewDataOptions {
  int64_t batch = 256;        // samples at a time
  int64_t limit = 0;          // samples; 0: all
  int64_t workers = 0;        // threads that decode images; 0: all processors
  double bad_images = 0.001;  // share of a folder's images that may be damaged; they are left out
  std::function<void(const std::string&)> on_message = {};  // what was left out
};

/// Predicts new data with nothing at hand but the model. What an argument is follows from its content and
/// from the model's preprocessing:
///   images: JPEG and PNG files, and folders of them at any depth, in the order of their paths;
///   click logs: files in the format that was trained on, and folders of them;
///   NPY, NPZ and CSV files, and input=FILE: the model's inputs themselves, or for a model of a table the raw
///   rows of one like it (add_samples);
///   "-": the same from `standard_input`.
/// Throws Error that names the argument where it is none of these.
Predictions predict(OpenModel& model, const std::vector<std::string>& arguments, std::istream& standard_input,
                    const NewDataOptions& options);

}  // namespace hewn::deploy
