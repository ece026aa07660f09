#pragma once

#include <cstdint>
#include <string>

#include "cli/command.h"
#include "hewn/run/options.h"

namespace hewn::cli {

struct TrainFields {
  run::Options options;
  bool resume = false;
  int64_t patience = 30;
  bool quiet = false;
  bool json = false;
};

/// Needs LibTorch.
int run_train(TrainFields& fields, const Given& given);

}  // namespace hewn::cli
