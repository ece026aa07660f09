#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/usage/bench.h"
#include "hewn/core/json.h"

namespace hewn::cli {

/// A measurement that is ready to run: everything that can be wrong with its options has been said.
using Job = std::function<Json()>;

/// How a kind is measured.
struct KindJobs {
  std::string name;
  Job (*prepare)(const Values&, const BenchFields&);
  std::vector<std::string> columns;  // of the table, beside those that all have
};

// One per file.
std::vector<KindJobs> layer_kinds();
std::vector<KindJobs> network_kinds();

}  // namespace hewn::cli
