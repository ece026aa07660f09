#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "hewn/io/npy.h"

namespace hewn::io {

/// Names of the arrays in an .npz file, in its order.
std::vector<std::string> npz_arrays(const std::filesystem::path& path);

/// One of them, as read_npy gives it. Throws FormatError, naming the arrays that are there.
NpyMatrix read_npz(const std::filesystem::path& path, const std::string& array,
                   NpyShape shape = NpyShape::kMatrix);

/// Writes arrays, each the bytes of an NPY file under its name, not compressed, atomically.
void write_npz(const std::filesystem::path& path,
               const std::vector<std::pair<std::string, std::string>>& arrays);

}  // namespace hewn::io
