#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hewn::io {

/// Element types that hewn reads and writes, by their names in the format.
enum class DType { kF64, kF32, kF16, kBF16, kI64, kI32, kI16, kI8, kU8, kBool };

std::string_view name_of(DType type);
size_t size_of(DType type);

/// A view of one tensor: row-major data that someone else owns.
struct TensorView {
  DType type = DType::kF32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;

  int64_t elements() const;
};

/// A safetensors file in memory (https://github.com/huggingface/safetensors): eight bytes of header length, a
/// JSON header, then the data. Tensors are kept in the order of their names.
struct SafetensorsFile {
  std::map<std::string, std::string> metadata;
  std::map<std::string, TensorView> tensors;  // views into `bytes` after reading
  std::string bytes;                          // owns the data after reading
};

/// Reads and checks the whole file: every length, offset, type and shape, and that the tensors fill the data
/// without holes or overlaps. Throws FormatError, never crashes.
/// With `sealed`, also demands the checksum that write_safetensors added.
SafetensorsFile read_safetensors(const std::filesystem::path& path, bool sealed = false);
/// The same for bytes in memory; errors name them `where`.
SafetensorsFile parse_safetensors(std::string bytes, const std::string& where, bool sealed = false);

/// Writes atomically. With `sealed`, adds a last tensor "~crc32" (four bytes) that holds the CRC-32 of every
/// byte before it, so that damage anywhere in the file is noticed; other readers see one small extra tensor.
void write_safetensors(const std::filesystem::path& path, const std::map<std::string, std::string>& metadata,
                       const std::map<std::string, TensorView>& tensors, bool sealed = false);

}  // namespace hewn::io
