#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.h"
#include "hewn/run/options.h"

namespace hewn::cli {

struct PredictFields {
  std::string model;
  std::vector<std::string> inputs;
  run::Options options;
  int64_t limit = 0;
  int64_t top_k = 1;
  std::string out;
  std::string logits;
  bool json = false;

  PredictFields() { options.data.clear(); }
};

/// Needs LibTorch.
int run_predict(PredictFields& fields, const Given& given);

}  // namespace hewn::cli
