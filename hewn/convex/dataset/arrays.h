#pragma once

#include "hewn/convex/dataset.h"
#include "hewn/io/npy.h"

namespace hewn::convex {

/// Features and responses in one array, or in two. Groups are left to the caller.
Dataset read_npy_dataset(const std::string& path, const DatasetOptions& options);
Dataset read_npy_dataset(const std::string& x, const std::string& y, const DatasetOptions& options);
/// The arrays X and y of an archive, or its only one.
Dataset read_npz_dataset(const std::string& path, const DatasetOptions& options);

/// A sparse matrix as scipy.sparse.save_npz writes it, by columns or by rows, and responses: the file `y`, or
/// where that is empty the array y beside the matrix.
Dataset read_sparse_dataset(const std::string& x, const std::string& y, const DatasetOptions& options);
bool is_sparse_npz(const std::string& path);

/// Fills in task, responses and names of outputs.
void set_array_responses(Dataset& out, const io::NpyMatrix& y, const std::vector<std::string>& names,
                         const std::string& path);

}  // namespace hewn::convex
