#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hewn/core/json.h"

namespace hewn::report {

class RunView;

struct LatencyOptions {
  int64_t batch = 0;         // samples at a time; 0: as many as keep a call short
  int64_t rounds = 31;       // fewer where a call takes long
  int64_t layer_rounds = 7;  // of each layer alone
};

struct ReportOptions {
  bool latency = true;
  LatencyOptions timing;
  std::function<void(int64_t, int64_t)> progress = {};  // how many runs of how many are done
};

/// Everything that the page shows of these runs (find_runs): a few in full, many with coarser curves and
/// without pictures, so that the page stays small. Latency is measured for a few runs only.
Json collect(const std::vector<std::string>& paths, const ReportOptions& options);

/// The model of one run that is being watched.
Json collect_live(const RunView& run);

}  // namespace hewn::report
