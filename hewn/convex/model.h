#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hewn/convex/select.h"
#include "hewn/core/json.h"

namespace hewn::convex {

/// A column of a table that a model looks at.
struct ModelColumn {
  std::string name;
  std::string level;         // 1 where the column has this text, else 0; empty: the column is a number
  double mean = 0;           // put where a number is missing
  bool may_miss = false;     // otherwise a missing number is an error
  Eigen::RowVectorXd slope;  // one coefficient per output, in the units of the data
};

/// One lambda of a model's path.
struct ModelPoint {
  double lambda = 0;
  Eigen::RowVectorXd intercept;
  Matrix slopes;  // columns x outputs
};

/// What `hewn select` found, as something that predicts.
struct LinearModel {
  std::string task;
  std::string method;
  std::vector<std::string> targets;   // columns that were predicted
  std::vector<std::string> outputs;   // responses, or the classes with a column of coefficients
  std::vector<std::string> classes;   // all of them; empty for numbers
  std::vector<std::string> selected;  // names of groups in order
  std::string offset;                 // column that is added to the linear predictor; empty: none
  double lambda = 0;
  double mix = 1;  // of the penalty, as SelectOptions has them
  double singles = 0;
  Eigen::RowVectorXd intercept;
  std::vector<ModelColumn> columns;
  std::map<std::string, std::vector<std::string>> levels;  // all that a column of text had
  std::vector<ModelPoint> path;                            // where it was asked for
};

/// `whole_path` keeps every lambda of the selection's path too.
LinearModel model_of(const Dataset& data, const Selection& found, const std::string& method, bool whole_path);

void write_model(const std::filesystem::path& path, const LinearModel& model);
/// Throws FormatError where the file is no such model.
LinearModel read_model(const std::filesystem::path& path);

/// What a model says of a table's rows.
struct LinearPredictions {
  Matrix eta;   // rows x outputs: the linear predictor
  Matrix mean;  // rows x classes (both of two) or outputs: probabilities or expected responses
  std::vector<std::string> names;    // of the columns of mean
  std::vector<std::string> classes;  // the likeliest of each row; empty for numbers
};
/// Reads "new.csv" or "X.npy"; columns are found by their names, and those that the model does not look at
/// may have anything in them. `options` says how a CSV file is to be read. Throws Error or FormatError naming
/// the columns that are missing.
LinearPredictions predict(const LinearModel& model, const std::string& source, const DatasetOptions& options);

}  // namespace hewn::convex
