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

[[noreturn]] void reject(const std::string& where, const std::string& what) {
  throw FormatError(where, what);
}

class FileStream final : public ByteStream {
 public:
  explicit FileStream(const std::filesystem::path& path) : path_(path.string()) {
    expect_file(path);
    file_.open(path, std::ios::binary);
    if (!file_) reject(path_, "cannot be read");
    file_.seekg(0, std::ios::end);
    size_ = static_cast<uint64_t>(file_.tellg());
    file_.seekg(0);
  }
  uint64_t size() const override { return size_; }
  void read(char* to, size_t count) override {
    file_.read(to, static_cast<std::streamsize>(count));
    if (!file_) reject(path_, "ends too early");
  }

 private:
  std::string path_;
  std::ifstream file_;
  uint64_t size_ = 0;
};

class MemoryStream final : public ByteStream {
 public:
  MemoryStream(std::string_view bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {}
  uint64_t size() const override { return bytes_.size(); }
  void read(char* to, size_t count) override {
    if (count > bytes_.size() - at_) reject(where_, "ends too early");
    std::memcpy(to, bytes_.data() + at_, count);
    at_ += count;
  }

 private:
  std::string_view bytes_;
  std::string where_;
  size_t at_ = 0;
};

/// What follows 'key': in the header's dictionary.
std::string_view value_of(const std::string& where, std::string_view header, std::string_view key) {
  const size_t at = header.find(str("'", key, "':"));
  if (at == std::string_view::npos) reject(where, str("NPY header has no ", key));
  std::string_view rest = header.substr(at + key.size() + 3);
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  return rest;
}

Layout read_layout(ByteStream& file, const std::string& where) {
  char start[12] = {};
  if (file.size() < 12) reject(where, "is not an NPY file");
  file.read(start, 10);
  if (!starts_as_npy({start, 10})) reject(where, "is not an NPY file");
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3) reject(where, str("NPY version ", version, " is not known"));
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
  if (length > (size_t{1} << 20)) reject(where, "NPY header is damaged");
  if (length > file.size() - layout.offset) reject(where, "ends inside the NPY header");
  std::string header(length, ' ');
  file.read(header.data(), length);
  layout.offset += length;

  const std::string_view type = value_of(where, header, "descr");
  if (type.empty() || type.front() != '\'' || type.find('\'', 1) == std::string_view::npos) {
    reject(where, "NPY type is not a plain one");
  }
  layout.type = type.substr(1, type.find('\'', 1) - 1);
  const std::string_view order = value_of(where, header, "fortran_order");
  if (!order.starts_with("True") && !order.starts_with("False")) reject(where, "NPY header is damaged");
  layout.fortran = order.starts_with("True");
  std::string_view shape = value_of(where, header, "shape");
  const size_t close = shape.find(')');
  if (shape.empty() || shape.front() != '(' || close == std::string_view::npos)
    reject(where, "NPY shape is damaged");
  shape = shape.substr(1, close - 1);
  while (!shape.empty()) {
    int64_t extent = 0;
    const auto [stop, problem] = std::from_chars(shape.data(), shape.data() + shape.size(), extent);
    if (problem != std::errc() || extent < 0) reject(where, "NPY shape is damaged");
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

bool starts_as_npy(std::string_view bytes) { return bytes.starts_with("\x93NUMPY"); }

NpyMatrix read_npy(const std::filesystem::path& path, NpyShape shape) {
  FileStream file(path);
  return read_npy(file, path.string(), shape);
}

NpyMatrix parse_npy(std::string_view bytes, const std::string& where, NpyShape shape) {
  MemoryStream file(bytes, where);
  return read_npy(file, where, shape);
}

NpyMatrix read_npy(ByteStream& file, const std::string& where, NpyShape shape) {
  const Layout layout = read_layout(file, where);
  const Type* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const Type& t) { return layout.type == t.name; });
  if (type == std::end(kTypes)) {
    reject(where,
           str("NPY type \"", layout.type, "\" is not supported; expected float32, float64 or integers"));
  }
  const size_t dimensions = layout.shape.size();
  if (dimensions == 0 || (dimensions > 2 && shape == NpyShape::kMatrix)) {
    reject(where, str("has ", dimensions, " dimensions, expected 1 or 2"));
  }
  if (dimensions > 2 && layout.fortran) {
    reject(where, str("has ", dimensions, " dimensions in Fortran order; save it in C order"));
  }
  NpyMatrix out;
  out.rows = layout.shape[0];
  for (size_t i = 1; i < dimensions; ++i) {
    if (__builtin_mul_overflow(out.cols, layout.shape[i], &out.cols)) reject(where, "NPY shape is damaged");
  }
  // The file must hold what its header promises before memory is taken for it.
  const uint64_t bytes = file.size() - layout.offset;
  const auto rows = static_cast<uint64_t>(out.rows);
  const auto cols = static_cast<uint64_t>(out.cols);
  if (rows != 0 && cols > bytes / type->size / rows + 1) reject(where, "is shorter than its header says");
  if (rows * cols * type->size != bytes) {
    reject(where, str("has ", bytes, " bytes of data, expected ", rows * cols * type->size));
  }
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
    file.read(buffer.data(), count * run * type->size);
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

namespace {

std::string npy_start(const char* type, bool fortran, const std::string& shape) {
  std::string header = str("{'descr': '", type, "', 'fortran_order': ", fortran ? "True" : "False",
                           ", 'shape': (", shape, "), }");
  header.append(64 - (10 + header.size() + 1) % 64, ' ');
  header.push_back('\n');
  std::string start("\x93NUMPY\x01\x00", 8);
  start.push_back(static_cast<char>(header.size() & 0xff));
  start.push_back(static_cast<char>(header.size() >> 8));
  return start + header;
}

}  // namespace

NpyArray read_npy_array(const std::filesystem::path& path) {
  FileStream file(path);
  return read_npy_array(file, path.string());
}

NpyArray read_npy_array(ByteStream& file, const std::string& where) {
  const Layout layout = read_layout(file, where);
  const Type* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const Type& t) { return layout.type == t.name; });
  if (type == std::end(kTypes)) {
    reject(where, str("NPY type \"", layout.type, "\" is not supported; expected floats, integers or bool"));
  }
  if (layout.fortran && layout.shape.size() > 1) reject(where, "is in Fortran order; save it in C order");
  NpyArray out{layout.shape, {}};
  uint64_t elements = 1;
  for (const int64_t dim : layout.shape) {
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(dim), &elements))
      reject(where, "NPY shape is damaged");
  }
  const uint64_t bytes = file.size() - layout.offset;
  if (elements > bytes || elements * type->size != bytes) {
    reject(where, str("has ", bytes, " bytes of data, which do not fit its shape"));
  }
  std::string data(bytes, '\0');
  file.read(data.data(), bytes);
  const char kind = layout.type[1];
  if (kind == 'b') {
    out.values = std::vector<uint8_t>(data.begin(), data.end());
  } else if (layout.type == "<i8") {
    std::vector<int64_t> values(elements);
    std::memcpy(values.data(), data.data(), bytes);
    out.values = std::move(values);
  } else {
    std::vector<double> wide(elements);
    type->convert(data.data(), elements, wide.data(), 1);
    if (kind == 'f') {
      out.values = std::vector<float>(wide.begin(), wide.end());
    } else {
      std::vector<int64_t> values(elements);
      // Doubles hold what fits into 32 bits; of larger unsigned numbers the nearest that fits.
      std::transform(wide.begin(), wide.end(), values.begin(), [](double x) {
        return x >= 9223372036854775807.0 ? INT64_MAX : static_cast<int64_t>(x);
      });
      out.values = std::move(values);
    }
  }
  return out;
}

std::string npy_bytes(const NpyArray& array) {
  std::string shape;
  for (const int64_t dim : array.dims) shape += str(dim, ", ");
  if (array.dims.size() > 1) shape.resize(shape.size() - 2);
  const char* types[] = {"<f4", "<i8", "|b1"};
  std::string out = npy_start(types[array.values.index()], false, shape);
  std::visit(
      [&](const auto& values) {
        out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
      },
      array.values);
  return out;
}

void write_npy(const std::filesystem::path& path, int64_t rows, int64_t cols, const double* column_major) {
  const std::string start = npy_start("<f8", true, str(rows, ", ", cols));
  const std::string_view data(reinterpret_cast<const char*>(column_major),
                              static_cast<size_t>(rows * cols) * sizeof(double));
  write_file_atomically(path, {start, data});
}

std::string npy_bytes(int64_t rows, int64_t cols, const float* row_major) {
  std::string out = npy_start("<f4", false, str(rows, ", ", cols));
  return out.append(reinterpret_cast<const char*>(row_major),
                    static_cast<size_t>(rows * cols) * sizeof(float));
}

}  // namespace hewn::io
