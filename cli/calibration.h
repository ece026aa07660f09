#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hewn/core/options.h"
#include "hewn/refit/calibration.h"

namespace hewn::cli {

/// Where calibration inputs come from, and how images become inputs.
struct CalibrationFields {
  std::vector<std::string> from;  // files and folders, with NAME= before them
  int64_t samples = 0;
  std::optional<int64_t> image_size;
  std::optional<int64_t> eval_resize;
  std::vector<std::string> mean;
  std::vector<std::string> deviation;
};

/// The options of it; `purpose` stands before the help of `calibration`.
void add_calibration_options(OptionTable& table, CalibrationFields& fields, const std::string& purpose);

struct Calibration {
  refit::Batches batches;
  std::string images;  // how images became inputs, in words; "" where there were none
};

/// What `fields` say, for the network `graph` that was read from `model`. Throws Error.
Calibration read_calibration(const flow::Graph& graph, const std::string& model,
                             const CalibrationFields& fields, int64_t most = 32);

}  // namespace hewn::cli
