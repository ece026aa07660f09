#pragma once

#include <string>

#include "cli/command.h"

namespace hewn::cli {

struct ExportFields {
  std::string run;
  std::string to;
  std::string dtype = "f32";
  bool json = false;
};

/// Needs LibTorch.
int run_export(ExportFields& fields, const Given& given);

}  // namespace hewn::cli
