#pragma once

#include <string>
#include <vector>

#include "hewn/report/run_view.h"
#include "hewn/results/outcome.h"

namespace hewn::report {

/// The run folders that the paths stand for, each once: a run itself, or a folder that holds some, directly
/// or in runs/. Throws Error where a path holds none.
std::vector<run::Folder> find_runs(const std::vector<std::string>& paths);

/// How many runs the sweeps among these folders put apart because they failed.
int64_t count_failed(const std::vector<std::string>& paths);

using results::Outcome;

/// The finished runs among those given, and the dense runs beside them. Throws FormatError with the path of
/// a run whose files hold something else than they should.
std::vector<Outcome> outcomes(const std::vector<RunView>& runs);

}  // namespace hewn::report
