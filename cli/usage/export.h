#pragma once

#include <string>

#include "cli/calibration.h"
#include "cli/command.h"
#include "hewn/flow/int8/quantise.h"
#include "hewn/run/options.h"

namespace hewn::cli {

struct ExportFields {
  std::string source;
  std::string to;
  std::string dtype = "f32";
  CalibrationFields calibration;  // of int8
  flow::QuantiseOptions quantise;
  bool json = false;
  run::Options options;  // of weights: what network they are of

  ExportFields() {
    options.data.clear();
    options.model.clear();
  }
};

/// Needs LibTorch.
int run_export(ExportFields& fields, const Given& given);

}  // namespace hewn::cli
