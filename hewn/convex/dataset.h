#pragma once

#include <string>
#include <vector>

#include "hewn/convex/problem.h"
#include "hewn/io/csv.h"

namespace hewn::convex {

struct DatasetOptions {
  /// Columns to predict, by name or by number from 0 (negative: from the end). Empty: the last one.
  std::vector<std::string> targets;
  /// gaussian, binomial, multinomial, poisson, or auto: gaussian for numbers, classes for labels.
  std::string task = "auto";
  /// Column of sample weights; empty: none.
  std::string weights;
  /// Column that is added to the linear predictor; empty: none.
  std::string offset;
  /// Columns of text whose values become 0/1 features, one group per column.
  std::vector<std::string> categories;
  /// Columns to leave out.
  std::vector<std::string> ignore;
  io::Header header = io::Header::kAuto;
  char separator = ',';
  /// Put the column's mean where a value is missing; otherwise a missing value is an error.
  bool impute_mean = false;
};

/// Samples read from a file, ready to be a problem; groups are single features.
struct Dataset {
  Problem problem;
  std::string task;
  std::vector<std::string> features;  // names
  std::vector<std::string> sources;   // column of the file behind each feature; empty where they are the same
  std::vector<std::string> outputs;   // responses or classes
};

/// Reads "data.csv", "X.npy,Y.npy", "X.npy" or "data.npz" with arrays X and y. Throws Error or FormatError,
/// naming file, line and column.
Dataset read_dataset(const std::string& source, const DatasetOptions& options);

/// Lines of a file, one label per feature. Throws FormatError when their number does not fit.
std::vector<std::string> read_labels(const std::string& path, Index count);

}  // namespace hewn::convex
