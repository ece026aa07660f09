#pragma once

#include "hewn/convex/dataset.h"

namespace hewn::convex {

/// Features and responses in one array, or in two. Groups are left to the caller.
Dataset read_npy_dataset(const std::string& path, const DatasetOptions& options);
Dataset read_npy_dataset(const std::string& x, const std::string& y, const DatasetOptions& options);
/// The arrays X and y of an archive, or its only one.
Dataset read_npz_dataset(const std::string& path, const DatasetOptions& options);

}  // namespace hewn::convex
