#pragma once

#include <string>
#include <vector>

#include "hewn/core/json.h"
#include "hewn/report/latency.h"

namespace hewn::report {

struct ReportOptions {
  bool latency = true;
  LatencyOptions timing;
};

/// Everything that the page shows of these runs (find_runs): a few in full, many with coarser curves and
/// without pictures, so that the page stays small. Latency is measured for a few runs only.
Json collect(const std::vector<std::string>& paths, const ReportOptions& options);

/// The model of one run that is being watched.
Json collect_live(const RunView& run);

}  // namespace hewn::report
