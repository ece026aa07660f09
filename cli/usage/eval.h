#pragma once

#include <string>

#include "cli/command.h"
#include "hewn/run/options.h"

namespace hewn::cli {

struct EvalFields {
  std::string source;
  run::Options options;
  bool json = false;

  EvalFields() {
    options.data.clear();   // the run's own
    options.model.clear();  // likewise
  }
};

/// Needs LibTorch.
int run_eval(EvalFields& fields, const Given& given);

}  // namespace hewn::cli
