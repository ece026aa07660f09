#pragma once

#include <string>

#include "cli/command.h"
#include "hewn/report/server.h"

namespace hewn::cli {

struct WatchFields {
  std::string run;
  report::ServerOptions server = {"127.0.0.1", 8750, false};
  bool terminal = false;
};

/// Needs LibTorch.
int run_watch(WatchFields& fields, const Given& given);

}  // namespace hewn::cli
