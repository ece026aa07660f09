#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hewn/io/byte_stream.h"

namespace hewn::io {

/// A NumPy array as doubles, column after column. Of one with more than two dimensions all but the first are
/// one row.
struct NpyMatrix {
  int64_t rows = 0;
  int64_t cols = 1;
  std::vector<double> values;
};

enum class NpyShape { kMatrix, kAny };

/// Reads float32, float64 and integer arrays in C or Fortran order, converting as it goes: the file's own
/// form is never in memory as a whole. With kAny in C order more than two dimensions are taken. Throws
/// FormatError.
NpyMatrix read_npy(const std::filesystem::path& path, NpyShape shape = NpyShape::kMatrix);
/// The same from any bytes; `where` stands for them in errors.
NpyMatrix read_npy(ByteStream& file, const std::string& where, NpyShape shape = NpyShape::kMatrix);
NpyMatrix parse_npy(std::string_view bytes, const std::string& where, NpyShape shape = NpyShape::kMatrix);
/// Whether these bytes begin an NPY file.
bool starts_as_npy(std::string_view bytes);

/// A NumPy array of any dimensions, row-major: floats of all widths as float, integers as int64, bool as
/// bytes.
struct NpyArray {
  std::vector<int64_t> dims;
  std::variant<std::vector<float>, std::vector<int64_t>, std::vector<uint8_t>> values;
};

/// Throws FormatError for other types, Fortran order, and data that does not fit the shape.
NpyArray read_npy_array(const std::filesystem::path& path);
NpyArray read_npy_array(ByteStream& file, const std::string& where);
/// A file's bytes.
std::string npy_bytes(const NpyArray& array);

/// Writes float64 in Fortran order, atomically.
void write_npy(const std::filesystem::path& path, int64_t rows, int64_t cols, const double* column_major);
/// A file's bytes: float32 in C order.
std::string npy_bytes(int64_t rows, int64_t cols, const float* row_major);

}  // namespace hewn::io
