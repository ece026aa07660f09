#include <algorithm>
#include <cmath>

#include "hewn/convex/dataset/arrays.h"
#include "hewn/convex/dataset/columns.h"
#include "hewn/core/error.h"
#include "hewn/io/npz.h"
#include "hewn/io/zip.h"

namespace hewn::convex {
namespace {

/// "csc" or "csr": a text array, of which the bytes behind the header are looked at.
std::string format_of(const std::string& path) {
  for (const io::ZipMember& member : io::read_zip_directory(path)) {
    if (member.name != "format.npy" || member.size > 4096) continue;
    std::string bytes(member.size, '\0');
    io::open_zip_member(path, member)->read(bytes.data(), bytes.size());
    std::string text;  // four bytes a letter, or one
    for (const char c : bytes.substr(bytes.find('\n') + 1)) {
      if (c != '\0') text += c;
    }
    if (text == "csc" || text == "csr") return text;
    throw FormatError(path, str("is a sparse matrix of format \"", text, "\"; expected csc or csr"));
  }
  throw FormatError(path, "has no array format; expected what scipy.sparse.save_npz writes");
}

std::vector<Index> whole_numbers(const io::NpyMatrix& array, const std::string& what,
                                 const std::string& path) {
  std::vector<Index> out;
  for (const double value : array.values) {
    if (!(value >= 0) || value > 2e9 || value != std::floor(value)) {
      throw FormatError(path, str(what, ": expected numbers from 0 to 2e9, got ", value));
    }
    out.push_back(static_cast<Index>(value));
  }
  return out;
}

/// What starts and indices say of one dimension, as columns. Throws FormatError where they do not fit
/// together.
SparseColumns compressed(const std::string& path, Index lines, Index across) {
  SparseColumns out;
  out.start = whole_numbers(io::read_npz(path, "indptr"), "indptr", path);
  const std::vector<Index> indices = whole_numbers(io::read_npz(path, "indices"), "indices", path);
  out.values = io::read_npz(path, "data").values;
  const bool fits = to_index(out.start.size()) == lines + 1 && indices.size() == out.values.size() &&
                    std::is_sorted(out.start.begin(), out.start.end()) && out.start.front() == 0 &&
                    out.start.back() == to_index(indices.size()) &&
                    std::all_of(indices.begin(), indices.end(), [&](Index i) { return i < across; });
  if (!fits) throw FormatError(path, "indptr, indices, data and shape do not fit together");
  for (const Index i : indices) out.rows.push_back(static_cast<int>(i));
  out.row_count = across;
  return out;
}

SparseColumns transposed(const SparseColumns& lines) {
  SparseColumns out;
  out.row_count = to_index(lines.start.size()) - 1;
  out.start.assign(to_size(lines.row_count) + 1, 0);
  for (const int j : lines.rows) ++out.start[to_size(j) + 1];
  for (std::size_t j = 1; j < out.start.size(); ++j) out.start[j] += out.start[j - 1];
  std::vector<Index> next = out.start;
  out.rows.resize(lines.rows.size());
  out.values.resize(lines.values.size());
  for (Index i = 0; i < out.row_count; ++i) {
    for (Index at = lines.start[to_size(i)]; at < lines.start[to_size(i) + 1]; ++at) {
      const auto to = to_size(next[to_size(lines.rows[to_size(at)])]++);
      out.rows[to] = static_cast<int>(i);
      out.values[to] = lines.values[to_size(at)];
    }
  }
  return out;
}

}  // namespace

bool is_sparse_npz(const std::string& path) {
  const std::vector<std::string> names = io::npz_arrays(path);
  return std::find(names.begin(), names.end(), "indptr") != names.end();
}

Dataset read_sparse_dataset(const std::string& x, const std::string& y, const DatasetOptions& options) {
  const std::vector<Index> shape = whole_numbers(io::read_npz(x, "shape"), "shape", x);
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1)
    throw FormatError(x, "shape: expected two numbers above 0");
  const bool by_columns = format_of(x) == "csc";
  SparseColumns columns = compressed(x, by_columns ? shape[1] : shape[0], by_columns ? shape[0] : shape[1]);
  // Twice transposed, rows ascend.
  columns = by_columns ? transposed(transposed(columns)) : transposed(columns);
  Dataset out;
  out.task = options.task;
  for (Index j = 0; j < shape[1]; ++j) {
    out.features.push_back(str(j));
    const Index first = columns.start[to_size(j)];
    const Index count = columns.start[to_size(j) + 1] - first;
    const double* values = columns.values.data() + first;
    if (std::any_of(values, values + count, [](double v) { return !std::isfinite(v); }))
      throw FormatError(x, str("column ", j, " (from 0): has a value that is not a finite number"));
    check_range(values, count, str(j), x);
  }
  const io::NpyMatrix responses = y.empty() ? io::read_npz(x, "y") : io::read_npy(y);
  const std::string where = y.empty() ? x + ", y" : y;
  if (responses.rows != shape[0]) {
    throw FormatError(where, str("has ", responses.rows, " rows, expected ", shape[0], " as in ", x));
  }
  std::vector<std::string> names;
  for (int64_t c = 0; c < responses.cols; ++c) names.push_back(str("y", c));
  set_array_responses(out, responses, names, where);
  out.problem.x = sparse_design(std::move(columns));
  return out;
}

}  // namespace hewn::convex
