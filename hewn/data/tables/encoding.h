#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hewn/core/preprocessing.h"
#include "hewn/data/tables/options.h"

namespace hewn::data {

struct Cells;

/// A column of text: a feature for each of its values, 1 where the row has it. Others are 0 in all of them.
struct Category {
  std::string name;
  std::vector<std::string> values;
};

/// Where columns stand in a table, from 0: those of one without names are known by it alone.
struct TableLayout {
  size_t columns = 0;            // also those that were left out
  std::vector<size_t> features;  // columns of numbers, then those of text
  size_t target = 0;
};

/// How rows of a table become inputs, and outputs answers: found in the training rows of a run, recorded with
/// it, and all that new rows need.
struct TableEncoding {
  std::vector<std::string> numbers;  // columns of numbers, which are the first features
  std::vector<Category> categories;  // the features behind them
  bool standardise = true;
  bool impute = false;         // the mean stands for a missing number
  std::vector<double> means;   // of each feature
  std::vector<double> scales;  // their standard deviations; 0: had one value only, and says nothing
  TableLayout layout;
  std::string target;
  std::vector<std::string> classes;  // empty: the target is a number
  double target_mean = 0;
  double target_scale = 1;
  std::string header = "auto";  // how the text is read
  std::string separator = ",";
  int64_t rows = 0;  // of the table that it was found in, and what was in them
  uint32_t crc32 = 0;

  int64_t features() const { return static_cast<int64_t>(means.size()); }
};

/// Whether a record's rule is that of a table.
bool is_table_rule(const Json& rule);

/// The record of an encoding, for runs and model files.
Preprocessing table_preprocessing(const TableEncoding& encoding);
/// Throws FormatError that names `where` for a record that is not whole: files may be hostile.
TableEncoding table_encoding(const Preprocessing& record, const std::string& where);

/// Finds it in these rows. Classes are those of the whole table. Throws Error or FormatError for what cannot
/// be learned: a target that is neither numbers nor text throughout, one class, one number.
TableEncoding find_encoding(const Cells& cells, const std::vector<int64_t>& training,
                            const TableOptions& options);

/// Features, row after row. Throws FormatError for a missing value, unless it is imputed.
std::vector<float> encoded_inputs(const Cells& cells, const TableEncoding& encoding);
/// The number of each row's class. Throws FormatError for one that the encoding does not know.
std::vector<int64_t> encoded_classes(const Cells& cells, const TableEncoding& encoding);
/// The target in standard deviations from its mean.
std::vector<float> encoded_numbers(const Cells& cells, const TableEncoding& encoding);

}  // namespace hewn::data
