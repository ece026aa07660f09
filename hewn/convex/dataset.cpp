#include "hewn/convex/dataset.h"

#include <algorithm>

#include "hewn/convex/dataset/arrays.h"
#include "hewn/convex/dataset/csv.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"

namespace hewn::convex {
namespace {

/// A sparse matrix has no columns to name.
void refuse_columns(const DatasetOptions& options) {
  if (!options.targets.empty() || !options.weights.empty() || !options.offset.empty() ||
      !options.folds.empty() || !options.event.empty() || !options.categories.empty() ||
      !options.ignore.empty() || options.impute_mean) {
    throw Error(
        "target, weights, offset, folds, event, categories, ignore and impute: are for tables, not for a "
        "sparse matrix");
  }
}

}  // namespace

Dataset read_dataset(const std::string& source, const DatasetOptions& options) {
  const std::size_t comma = source.find(".npy,");
  const std::size_t sparse = source.find(".npz,");
  Dataset out;
  if (sparse != std::string::npos) {
    refuse_columns(options);
    out = read_sparse_dataset(source.substr(0, sparse + 4), source.substr(sparse + 5), options);
  } else if (comma != std::string::npos) {
    out = read_npy_dataset(source.substr(0, comma + 4), source.substr(comma + 5), options);
  } else if (source.ends_with(".npy")) {
    out = read_npy_dataset(source, options);
  } else if (source.ends_with(".npz") && is_sparse_npz(source)) {
    refuse_columns(options);
    out = read_sparse_dataset(source, "", options);
  } else if (source.ends_with(".npz")) {
    out = read_npz_dataset(source, options);
  } else {
    out = read_csv_dataset(source, options);
  }
  out.problem.groups = Groups::features(out.problem.x->cols(), out.problem.y.cols());
  return out;
}

std::vector<std::string> read_labels(const std::string& path, Index count) {
  const std::string text = read_file(path);
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\n,", begin), text.size());
    std::string word = text.substr(begin, end - begin);
    while (!word.empty() && (word.back() == '\r' || word.back() == ' ')) word.pop_back();
    if (!word.empty()) out.push_back(std::move(word));
    begin = end + 1;
  }
  if (to_index(out.size()) != count) {
    throw FormatError(path,
                      str("has ", out.size(), " group labels, expected ", count, ", one per feature column"));
  }
  return out;
}

}  // namespace hewn::convex
