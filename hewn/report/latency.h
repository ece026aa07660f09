#pragma once

#include <cstdint>

#include "hewn/core/json.h"
#include "hewn/report/run_view.h"

namespace hewn::report {

struct LatencyOptions {
  int64_t batch = 0;  // samples at a time; 0: as many as keep a call short
  int64_t rounds = 7;
};

/// Times a finished run's network on this machine against the fastest dense way, and each of its pruned
/// layers' shapes with as many random blocks, with LibTorch's current number of threads. {"missing": why}
/// where that cannot be done.
Json measure_latency(const RunView& run, const LatencyOptions& options);

}  // namespace hewn::report
