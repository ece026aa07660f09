#pragma once

#include <string>

#include "cli/command.h"
#include "hewn/run/options.h"

namespace hewn::cli {

struct PlanFields {
  run::Options options;
  bool json = false;

  PlanFields() { options.data.clear(); }  // the model's usual one
};

/// Needs LibTorch.
int run_plan(PlanFields& fields, const Given& given);

}  // namespace hewn::cli
