#pragma once

#include "hewn/core/json.h"
#include "hewn/measure/compare.h"
#include "hewn/report/report.h"
#include "hewn/report/run_view.h"

namespace hewn::report {

/// Times a finished run's network on this machine against the fastest dense way, and each of its pruned
/// layers' shapes with as many random blocks, with LibTorch's current number of threads. {"missing": why}
/// where that cannot be done.
Json measure_latency(const RunView& run, const LatencyOptions& options);

/// What a page says of a comparison: times, and the speed-up or, where the rounds do not tell it, null beside
/// the reason ("withheld"). A speed-up that fewer products cannot explain has a sentence ("beyond_products").
Json latency_json(const measure::Comparison& result);

}  // namespace hewn::report
