#pragma once

#include <map>
#include <string>
#include <vector>

#include "hewn/report/run_view.h"

namespace hewn::report {

/// The run folders that the paths stand for, each once: a run itself, or a folder that holds some, directly
/// or in runs/. Throws Error where a path holds none.
std::vector<run::Folder> find_runs(const std::vector<std::string>& paths);

/// How many runs the sweeps among these folders put apart because they failed.
int64_t count_failed(const std::vector<std::string>& paths);

/// What one finished run contributes: where it stands in the table, and its test metrics.
struct Outcome {
  std::string task;    // data and model
  std::string method;  // with what else sets it apart from other runs of the method
  std::string block;
  double sparsity = 0;
  int64_t seed = 0;
  bool dense = false;  // nothing was pruned
  std::map<std::string, double> metrics;
};

/// The finished runs among those given, and the dense runs beside them. Throws FormatError with the path of
/// a run whose files hold something else than they should.
std::vector<Outcome> outcomes(const std::vector<RunView>& runs);

}  // namespace hewn::report
