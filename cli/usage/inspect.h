#pragma once

#include <string>

#include "cli/command.h"
#include "hewn/io/source_kind.h"

namespace hewn::cli {

struct InspectFields {
  std::string source;
  io::SourceKind kind = io::SourceKind::kMissing;  // what that is
  bool json = false;
};

/// Needs LibTorch.
int run_inspect(InspectFields& fields, const Given& given);

}  // namespace hewn::cli
