#pragma once

#include <string>
#include <vector>

#include "hewn/core/json.h"
#include "hewn/report/run_view.h"

namespace hewn::report {

/// The run folders that the paths stand for: a run itself, or a folder that holds some, directly or in runs/.
/// Throws Error where a path holds none.
std::vector<train::RunFolder> find_runs(const std::vector<std::string>& paths);

/// What one finished run contributes: where it stands in the table, and its test metrics.
struct Outcome {
  std::string task;    // data and model
  std::string method;  // with what else sets it apart from other runs of the method
  std::string block;
  double sparsity = 0;  // 0 for a dense run
  std::map<std::string, double> metrics;
};

/// The finished runs among those given.
std::vector<Outcome> outcomes(const std::vector<RunView>& runs);

/// Means and standard deviations over seeds, and who wins where: {"metrics": [...], "cells": [...],
/// "dense": [...], "winners": [...]}.
Json compare_outcomes(const std::vector<Outcome>& outcomes);

/// Whether more of a metric is better.
bool more_is_better(const std::string& metric);

}  // namespace hewn::report
