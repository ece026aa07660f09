#pragma once

#include "hewn/convex/dataset.h"

namespace hewn::convex {

/// A table of text. Groups are left to the caller.
Dataset read_csv_dataset(const std::string& path, const DatasetOptions& options);

}  // namespace hewn::convex
