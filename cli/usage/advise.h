#pragma once

#include <string>

#include "cli/command.h"
#include "hewn/deploy/advice_options.h"
#include "hewn/run/options.h"

namespace hewn::cli {

struct AdviseFields {
  run::Options options;
  std::string costs;  // file to write
  bool quick = false;
  bool json = false;

  AdviseFields() {
    options.data.clear();  // the model's usual one
    options.threads = 1;
    options.batch = deploy::AdviceOptions().batch;
  }
};

/// Needs LibTorch.
int run_advise(AdviseFields& fields, const Given& given);

}  // namespace hewn::cli
