#include "hewn/io/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/json.h"

namespace hewn::io {
namespace {

struct TypeRow {
  DType type;
  std::string_view name;
  size_t size;
};
constexpr std::array<TypeRow, 10> kTypes = {{{DType::kF64, "F64", 8},
                                             {DType::kF32, "F32", 4},
                                             {DType::kF16, "F16", 2},
                                             {DType::kBF16, "BF16", 2},
                                             {DType::kI64, "I64", 8},
                                             {DType::kI32, "I32", 4},
                                             {DType::kI16, "I16", 2},
                                             {DType::kI8, "I8", 1},
                                             {DType::kU8, "U8", 1},
                                             {DType::kBool, "BOOL", 1}}};

constexpr size_t kPrefix = 8;                 // bytes of the header's length
constexpr uint64_t kMaxHeader = 100'000'000;  // the format's own limit
constexpr size_t kAlignment = 8;
constexpr int kMaxDepth = 4;         // header, entry, list, number
const std::string kSeal = "~crc32";  // sorts behind every usual name

const TypeRow& row_of(DType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row;
  }
  throw Error("safetensors: element type outside the table");
}

std::string little_endian(uint64_t value, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
  return out;
}

uint64_t from_little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// Parses one header entry and checks it against the `available` bytes of data.
TensorView parse_entry(const std::string& path, const std::string& name, const nlohmann::json& entry,
                       std::span<const std::byte> data) {
  const auto bad = [&](const std::string& what) {
    return FormatError(path, str("tensor ", Json(name).dump(), ": ", what));
  };
  if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") ||
      !entry.contains("data_offsets")) {
    throw bad("expected dtype, shape and data_offsets");
  }
  TensorView view;
  const auto& type = entry["dtype"];
  const TypeRow* row = nullptr;
  for (const TypeRow& candidate : kTypes) {
    if (type.is_string() && type.get_ref<const std::string&>() == candidate.name) row = &candidate;
  }
  if (row == nullptr)
    throw bad(str("dtype ", type.is_string() ? type.dump() : "of no name", " is not supported"));
  view.type = row->type;

  const auto& shape = entry["shape"];
  if (!shape.is_array()) throw bad("shape is not a list");
  uint64_t size = row->size;
  for (const auto& extent : shape) {
    if (!extent.is_number_unsigned()) throw bad("shape holds something else than whole numbers");
    const auto value = extent.get<uint64_t>();
    if (value > std::numeric_limits<int64_t>::max()) throw bad("shape overflows");
    if (value > 0 && size > std::numeric_limits<int64_t>::max() / value) throw bad("shape overflows");
    size *= value;
    view.shape.push_back(static_cast<int64_t>(value));
  }

  const auto& offsets = entry["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    throw bad("data_offsets is not a pair of whole numbers");
  }
  const auto begin = offsets[0].get<uint64_t>();
  const auto end = offsets[1].get<uint64_t>();
  if (begin > end || end > data.size()) {
    throw bad(str("data_offsets [", begin, ", ", end, "] lie outside the ", data.size(), " bytes of data"));
  }
  if (end - begin != size) throw bad(str("has ", end - begin, " bytes, its shape needs ", size));
  view.data = data.subspan(begin, size);
  return view;
}

/// The format allows no bytes that belong to two tensors or to none.
void check_layout(const std::string& path, const SafetensorsFile& file, std::span<const std::byte> data) {
  std::vector<std::span<const std::byte>> parts;
  for (const auto& [name, view] : file.tensors) parts.push_back(view.data);
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return a.data() != b.data() ? a.data() < b.data() : a.size() < b.size();
  });
  const std::byte* end = data.data();
  for (const auto& part : parts) {
    if (part.data() != end) throw FormatError(path, "its tensors overlap or leave bytes unused");
    end += part.size();
  }
  if (end != data.data() + data.size()) throw FormatError(path, "has bytes behind its last tensor");
}

void check_seal(const std::string& path, const SafetensorsFile& file) {
  const auto seal = file.tensors.find(kSeal);
  if (seal == file.tensors.end() || seal->second.data.size() != 4 || file.bytes.size() < 4) {
    throw FormatError(path, "has no checksum; expected a checkpoint or a file of hewn export");
  }
  const std::string_view all = file.bytes;
  const uint64_t expected = from_little_endian(all.substr(all.size() - 4));
  if (crc32(all.substr(0, all.size() - 4)) != expected) {
    throw FormatError(path, "is damaged: its checksum does not match");
  }
}

}  // namespace

std::string_view name_of(DType type) { return row_of(type).name; }
size_t size_of(DType type) { return row_of(type).size; }

int64_t TensorView::elements() const {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

SafetensorsFile read_safetensors(const std::filesystem::path& path, bool sealed) {
  return parse_safetensors(read_file(path), path.string(), sealed);
}

SafetensorsFile parse_safetensors(std::string given, const std::string& where, bool sealed) {
  SafetensorsFile file;
  file.bytes = std::move(given);
  const std::string_view all = file.bytes;
  if (all.size() < kPrefix) throw FormatError(where, "is too short for a safetensors file");
  const uint64_t header_size = from_little_endian(all.substr(0, kPrefix));
  if (header_size > kMaxHeader || header_size > all.size() - kPrefix) {
    throw FormatError(where, str("is truncated: a header of ", header_size, " bytes does not fit"));
  }
  const auto header = parse_shallow<nlohmann::json>(all.substr(kPrefix, header_size), kMaxDepth);
  if (!header.is_object()) throw FormatError(where, "header is not a JSON object");
  const std::string_view data = all.substr(kPrefix + header_size);
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data.data()), data.size());

  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__") {
      file.tensors[name] = parse_entry(where, name, entry, bytes);
      continue;
    }
    if (!entry.is_object()) throw FormatError(where, "__metadata__ is not an object");
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string())
        throw FormatError(where, str("metadata ", Json(key).dump(), " is not a string"));
      file.metadata[key] = value.get<std::string>();
    }
  }
  check_layout(where, file, bytes);
  if (sealed) check_seal(where, file);
  file.tensors.erase(kSeal);
  return file;
}

void write_safetensors(const std::filesystem::path& path, const std::map<std::string, std::string>& metadata,
                       const std::map<std::string, TensorView>& tensors, bool sealed) {
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t offset = 0;
  const auto add = [&](const std::string& name, const TensorView& view) {
    header[name] = {{"dtype", name_of(view.type)},
                    {"shape", view.shape},
                    {"data_offsets", {offset, offset + view.data.size()}}};
    offset += view.data.size();
  };
  for (const auto& [name, view] : tensors) {
    if (name >= kSeal) throw Error(str("safetensors: a tensor may not be called \"", name, "\""));
    add(name, view);
  }
  const std::array<std::byte, 4> seal_space{};
  if (sealed) add(kSeal, {DType::kU8, {4}, seal_space});

  std::string text = header.dump();
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  const std::string prefix = little_endian(text.size(), kPrefix);
  std::vector<std::string_view> pieces = {prefix, text};
  for (const auto& [name, view] : tensors) {
    pieces.emplace_back(reinterpret_cast<const char*>(view.data.data()), view.data.size());
  }
  uint32_t checksum = 0;
  for (const std::string_view piece : pieces) checksum = crc32(piece, checksum);
  const std::string seal = little_endian(checksum, 4);
  if (sealed) pieces.push_back(seal);
  write_file_atomically(path, pieces);
}

}  // namespace hewn::io
