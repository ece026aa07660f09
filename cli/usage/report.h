#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.h"

namespace hewn::cli {

struct ReportFields {
  std::vector<std::string> runs;
  std::string out = "report.html";
  std::string old_out;
  bool latency = true;
  int64_t batch = 0;
  int64_t threads = 1;  // timed by its CPU time: what else runs here hardly matters
  bool json = false;
};

/// Needs LibTorch.
int run_report(ReportFields& fields, const Given& given);

}  // namespace hewn::cli
