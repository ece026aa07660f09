#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hewn/sweep/results.h"

namespace hewn::sweep {

/// Seconds until a sweep is through, from what its finished runs took: a run is expected to take as long as
/// those that agree with it in most axes, the seed aside. `running` says for how long runs have been under
/// way, by number. None before a run has finished.
std::optional<double> seconds_left(const Spec& spec, const std::vector<Run>& runs, const Results& results,
                                   const std::map<size_t, double>& running, int64_t workers);

/// The value of the compared axis that wins most cells, as "sa++r in 5 of 9 cells"; "" before there is one.
std::string leader(const Spec& spec, const Results& results);

}  // namespace hewn::sweep
