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
  // Of models that hewn select wrote.
  std::string lambda;
  std::string header = "auto";
  std::string separator = ",";

  PredictFields() { options.data.clear(); }
};

/// A model that hewn select wrote, on the rows of a table.
int run_predict_rows(PredictFields& fields, const Given& given);

/// Needs LibTorch.
int run_predict(PredictFields& fields, const Given& given);

}  // namespace hewn::cli
