#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hewn/core/json.h"
#include "hewn/core/options.h"
#include "hewn/flow/int8/quantise.h"
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

/// Where inputs come from, and how many; `purpose` stands before the help of `calibration`.
void add_calibration_sources(OptionTable& table, CalibrationFields& fields, const std::string& purpose);
/// The same, and how images become inputs.
void add_calibration_options(OptionTable& table, CalibrationFields& fields, const std::string& purpose);

/// How layers become bytes.
void add_quantise_options(OptionTable& table, flow::QuantiseOptions& options);

struct Calibration {
  refit::Batches batches;
  std::string images;  // how images became inputs, in words; "" where there were none
};

/// The rule for images that whoever wrote an ONNX file put into it, or null.
Json image_rule_in(const std::string& model);

/// What `fields` say, for the network `graph`, whose images have the rule `images` unless fields say another;
/// null: that of most networks for ImageNet. Throws Error.
Calibration read_calibration(const flow::Graph& graph, const Json& images, const CalibrationFields& fields,
                             int64_t most = 32);

}  // namespace hewn::cli
