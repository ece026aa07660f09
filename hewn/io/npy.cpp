#include "hewn/io/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "hewn/core/error.h"
#include "hewn/core/files.h"

namespace hewn::io {
namespace {

struct Layout {
  std::string type;  // as in the file, e.g. "<f4"
  bool fortran = false;
  std::vector<int64_t> shape;
  size_t offset = 0;
};

[[noreturn]] void reject(const std::filesystem::path& path, const std::string& what) {
  throw FormatError(path.string(), what);
}

/// What follows 'key': in the header's dictionary.
std::string_view value_of(const std::filesystem::path& path, std::string_view header, std::string_view key) {
  const size_t at = header.find(str("'", key, "':"));
  if (at == std::string_view::npos) reject(path, str("NPY header has no ", key));
  std::string_view rest = header.substr(at + key.size() + 3);
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  return rest;
}

Layout read_layout(std::ifstream& file, const std::filesystem::path& path) {
  char start[12] = {};
  file.read(start, 10);
  if (!file || std::memcmp(start, "\x93NUMPY", 6) != 0) reject(path, "is not an NPY file");
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3) reject(path, str("NPY version ", version, " is not known"));
  size_t length =
      static_cast<unsigned char>(start[8]) | static_cast<size_t>(static_cast<unsigned char>(start[9])) << 8;
  Layout layout;
  layout.offset = 10;
  if (version > 1) {
    file.read(start + 10, 2);
    length |= static_cast<size_t>(static_cast<unsigned char>(start[10])) << 16 |
              static_cast<size_t>(static_cast<unsigned char>(start[11])) << 24;
    layout.offset = 12;
  }
  if (!file || length > (size_t{1} << 20)) reject(path, "NPY header is damaged");
  std::string header(length, ' ');
  file.read(header.data(), static_cast<std::streamsize>(length));
  if (!file) reject(path, "ends inside the NPY header");
  layout.offset += length;

  const std::string_view type = value_of(path, header, "descr");
  if (type.empty() || type.front() != '\'' || type.find('\'', 1) == std::string_view::npos) {
    reject(path, "NPY type is not a plain one");
  }
  layout.type = type.substr(1, type.find('\'', 1) - 1);
  const std::string_view order = value_of(path, header, "fortran_order");
  if (!order.starts_with("True") && !order.starts_with("False")) reject(path, "NPY header is damaged");
  layout.fortran = order.starts_with("True");
  std::string_view shape = value_of(path, header, "shape");
  const size_t close = shape.find(')');
  if (shape.empty() || shape.front() != '(' || close == std::string_view::npos)
    reject(path, "NPY shape is damaged");
  shape = shape.substr(1, close - 1);
  while (!shape.empty()) {
    int64_t extent = 0;
    const auto [stop, problem] = std::from_chars(shape.data(), shape.data() + shape.size(), extent);
    if (problem != std::errc() || extent < 0) reject(path, "NPY shape is damaged");
    layout.shape.push_back(extent);
    shape.remove_prefix(static_cast<size_t>(stop - shape.data()));
    while (!shape.empty() && (shape.front() == ',' || shape.front() == ' ')) shape.remove_prefix(1);
  }
  return layout;
}

template <class T>
void convert(const char* from, size_t count, double* to, size_t stride) {
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    to[i * stride] = static_cast<double>(value);
  }
}

struct Type {
  const char* name;
  size_t size;
  void (*convert)(const char*, size_t, double*, size_t);
};
const Type kTypes[] = {
    {"<f8", 8, convert<double>},   {"<f4", 4, convert<float>},    {"<i8", 8, convert<int64_t>},
    {"<i4", 4, convert<int32_t>},  {"<i2", 2, convert<int16_t>},  {"|i1", 1, convert<int8_t>},
    {"<u8", 8, convert<uint64_t>}, {"<u4", 4, convert<uint32_t>}, {"<u2", 2, convert<uint16_t>},
    {"|u1", 1, convert<uint8_t>},  {"|b1", 1, convert<uint8_t>},
};

}  // namespace

NpyMatrix read_npy(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) reject(path, "cannot be read");
  const Layout layout = read_layout(file, path);
  const Type* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const Type& t) { return layout.type == t.name; });
  if (type == std::end(kTypes)) {
    reject(path,
           str("NPY type \"", layout.type, "\" is not supported; expected float32, float64 or integers"));
  }
  if (layout.shape.empty() || layout.shape.size() > 2) {
    reject(path, str("has ", layout.shape.size(), " dimensions, expected 1 or 2"));
  }
  NpyMatrix out;
  out.rows = layout.shape[0];
  out.cols = layout.shape.size() == 2 ? layout.shape[1] : 1;
  // The file must hold what its header promises before memory is taken for it.
  file.seekg(0, std::ios::end);
  const auto bytes = static_cast<uint64_t>(file.tellg()) - layout.offset;
  const auto rows = static_cast<uint64_t>(out.rows);
  const auto cols = static_cast<uint64_t>(out.cols);
  if (rows != 0 && cols > bytes / type->size / rows + 1) reject(path, "is shorter than its header says");
  if (rows * cols * type->size != bytes) {
    reject(path, str("has ", bytes, " bytes of data, expected ", rows * cols * type->size));
  }
  file.seekg(static_cast<std::streamoff>(layout.offset));
  out.values.resize(rows * cols);
  if (rows == 0 || cols == 0) return out;
  // Runs of the file: columns in Fortran order, rows in C order.
  const uint64_t run = layout.fortran || cols == 1 ? rows : cols;
  const uint64_t runs = rows * cols / run;
  const bool by_columns = layout.fortran || cols == 1;
  const uint64_t batch = std::clamp<uint64_t>((uint64_t{1} << 20) / (run * type->size), 1, runs);
  std::vector<char> buffer(batch * run * type->size);
  for (uint64_t first = 0; first < runs; first += batch) {
    const uint64_t count = std::min(batch, runs - first);
    file.read(buffer.data(), static_cast<std::streamsize>(count * run * type->size));
    if (!file) reject(path, "ends too early");
    for (uint64_t i = 0; i < count; ++i) {
      const char* from = buffer.data() + i * run * type->size;
      if (by_columns) {
        type->convert(from, run, out.values.data() + (first + i) * rows, 1);
      } else {
        type->convert(from, run, out.values.data() + first + i, rows);
      }
    }
  }
  return out;
}

void write_npy(const std::filesystem::path& path, int64_t rows, int64_t cols, const double* column_major) {
  std::string header = str("{'descr': '<f8', 'fortran_order': True, 'shape': (", rows, ", ", cols, "), }");
  header.append(64 - (10 + header.size() + 1) % 64, ' ');
  header.push_back('\n');
  std::string start("\x93NUMPY\x01\x00", 8);
  start.push_back(static_cast<char>(header.size() & 0xff));
  start.push_back(static_cast<char>(header.size() >> 8));
  const std::string_view data(reinterpret_cast<const char*>(column_major),
                              static_cast<size_t>(rows * cols) * 8);
  write_file_atomically(path, {start, header, data});
}

}  // namespace hewn::io
