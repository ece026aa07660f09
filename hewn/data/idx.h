#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hewn::data {

/// An array of bytes from an IDX file (the format of MNIST), plain or gzip.
struct IdxArray {
  std::vector<int64_t> shape;
  std::string bytes;
};

/// Throws FormatError that names the file unless it holds unsigned bytes of the given number of dimensions
/// and exactly as many as its header says.
IdxArray read_idx(const std::filesystem::path& path, int dimensions);

}  // namespace hewn::data
