#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hewn/io/byte_stream.h"

namespace hewn::io {

/// A NumPy array of at most two dimensions as doubles, column after column.
struct NpyMatrix {
  int64_t rows = 0;
  int64_t cols = 1;
  std::vector<double> values;
};

/// Reads float32, float64 and integer arrays in C or Fortran order, converting as it goes: the file's own
/// form is never in memory as a whole. Throws FormatError.
NpyMatrix read_npy(const std::filesystem::path& path);
/// The same from any bytes; `where` stands for them in errors.
NpyMatrix read_npy(ByteStream& file, const std::string& where);
/// Writes float64 in Fortran order, atomically.
void write_npy(const std::filesystem::path& path, int64_t rows, int64_t cols, const double* column_major);

}  // namespace hewn::io
