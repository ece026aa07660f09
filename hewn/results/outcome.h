#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace hewn::results {

/// What one finished run contributes: where it stands in a table, and its test metrics.
struct Outcome {
  std::string task;    // data and model
  std::string method;  // with what else sets it apart from other runs of the method
  std::string block;
  double sparsity = 0;
  int64_t seed = 0;
  bool dense = false;  // nothing was pruned
  std::map<std::string, double> metrics;
};

}  // namespace hewn::results
