#pragma once

#include <string>
#include <vector>

#include "hewn/convex/problem.h"
#include "hewn/io/csv.h"

namespace hewn::convex {

struct DatasetOptions {
  /// Columns to predict, by name or by number from 0 (negative: from the end). Empty: the last one.
  std::vector<std::string> targets;
  /// Task cox: column with 1 where the target is the time of an event, 0 where nothing had happened by then.
  std::string event;
  /// gaussian, binomial, multinomial, poisson, cox, or auto: gaussian for numbers, classes for labels.
  std::string task = "auto";
  /// Column of sample weights; empty: none.
  std::string weights;
  /// Column that is added to the linear predictor; empty: none.
  std::string offset;
  /// Column that says which fold of cross-validation a sample is in; empty: none.
  std::string folds;
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
  std::vector<std::string> levels;    // text of that column which makes the feature 1; empty: it is a number
  std::vector<double> means;          // put where a value was missing, per feature; empty: nothing was put
  std::vector<std::string> targets;   // columns of the responses
  std::vector<std::string> outputs;   // responses, or classes with coefficients of their own
  std::vector<std::string> classes;   // all of them; empty for numbers
  std::vector<int> folds;             // of each sample, from 0; empty: not said
  std::string note;                   // what the user may want to know of the responses; empty: nothing
  std::string offset;                 // column of the offset; empty: none
};

/// Reads "data.csv", "X.npy,Y.npy", "X.npy", "data.npz" with arrays X and y, or the sparse "X.npz,y.npy".
/// Throws Error or FormatError, naming file, line and column.
Dataset read_dataset(const std::string& source, const DatasetOptions& options);

/// Lines of a file, one label per feature. Throws FormatError when their number does not fit.
std::vector<std::string> read_labels(const std::string& path, Index count);

}  // namespace hewn::convex
