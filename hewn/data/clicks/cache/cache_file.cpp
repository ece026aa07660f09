#include "hewn/data/clicks/cache/cache_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/data/plumbing/input_file.h"

namespace hewn::data {
namespace {

constexpr uint64_t kMostRows = 65536;  // of a group

uint64_t padded(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

template <class T>
bool all_below(const char* column, uint64_t rows, uint64_t bound) {
  const auto* values = reinterpret_cast<const T*>(column);
  T largest = 0;
  for (uint64_t i = 0; i < rows; ++i) largest = std::max(largest, values[i]);
  return largest < bound;
}

bool all_below(const char* column, uint64_t rows, uint64_t bound, uint32_t width) {
  return width == 1   ? all_below<uint8_t>(column, rows, bound)
         : width == 2 ? all_below<uint16_t>(column, rows, bound)
                      : all_below<uint32_t>(column, rows, bound);
}

}  // namespace

uint32_t width_of(uint64_t numbers) { return numbers <= 0x100 ? 1 : numbers <= 0x10000 ? 2 : 4; }

GroupLayout::GroupLayout(const std::vector<CacheField>& fields, uint64_t rows)
    : parts(padded(rows)), bytes(2 * parts) {
  for (const CacheField& field : fields) {
    columns.push_back(bytes);
    bytes += padded(rows * field.width);
  }
}

uint32_t head_crc(CacheHeader header, std::string_view table, std::string_view metadata) {
  header.crc = 0;
  return crc32(metadata, crc32(table, crc32({reinterpret_cast<const char*>(&header), sizeof(header)})));
}

CacheFile::CacheFile(const std::filesystem::path& path, bool checksums)
    : path_(path.string()), checksums_(checksums) {
  const InputFile file(path);
  size_ = static_cast<uint64_t>(file.size());
  if (size_ < sizeof(CacheHeader)) damaged("it is too short");
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  if (mapped == MAP_FAILED) throw Error(str(path_, ": cannot be mapped into memory"));
  data_ = static_cast<const char*>(mapped);
  try {
    read_head();
    read_fields();
    check_groups();
  } catch (...) {
    ::munmap(mapped, size_);
    throw;
  }
  checked_ = std::make_unique<std::atomic<bool>[]>(groups_.size());
}

CacheFile::~CacheFile() { ::munmap(const_cast<char*>(data_), size_); }

void CacheFile::damaged(const std::string& what) const {
  throw FormatError(path_, str("is damaged: ", what, "; delete it, then it is built anew"));
}

std::string_view CacheFile::piece(uint64_t offset, uint64_t bytes, const char* what) const {
  if (offset > size_ || bytes > size_ - offset) damaged(str(what, " lies outside of the file"));
  return {data_ + offset, bytes};
}

void CacheFile::read_head() {
  constexpr int kDepth = 8;
  std::memcpy(&header_, data_, sizeof(header_));
  if (std::memcmp(header_.magic, CacheHeader().magic, sizeof(header_.magic)) != 0) damaged("it is no cache");
  if (header_.version != CacheHeader().version) damaged(str("it has version ", header_.version));
  if (header_.file_bytes != size_) damaged(str("it has ", size_, " bytes, expected ", header_.file_bytes));
  if (header_.groups < 1 || header_.groups > size_ / sizeof(CacheGroup))
    damaged("its number of groups is wrong");
  const std::string_view table = piece(header_.table, header_.groups * sizeof(CacheGroup), "the table");
  const std::string_view metadata =
      piece(header_.metadata, size_ - std::min(size_, header_.metadata), "the metadata");
  if (checksums_ && head_crc(header_, table, metadata) != header_.crc)
    damaged("the checksum of its header does not match");
  groups_.resize(header_.groups);
  std::memcpy(groups_.data(), table.data(), table.size());
  metadata_ = parse_shallow<Json>(metadata, kDepth);
  if (!metadata_.is_object()) damaged("its metadata is no JSON object");
  for (const char* key : {"rows", "bad_rows", "clicks"}) {
    if (!metadata_.contains(key) || !metadata_[key].is_number_unsigned()) damaged(str("it has no ", key));
  }
}

void CacheFile::read_fields() {
  const Json& fields = metadata_.contains("fields") ? metadata_["fields"] : Json();
  if (!fields.is_array() || fields.empty()) damaged("it names no fields");
  for (const Json& field : fields) {
    const auto number = [&](const char* key) {
      if (!field.is_object() || !field.contains(key) || !field[key].is_number_unsigned()) {
        damaged(str("a field has no ", key));
      }
      return field[key].get<uint64_t>();
    };
    CacheField out;
    out.numbers = number("numbers");
    if (out.numbers < 1 || out.numbers > (uint64_t{1} << 31)) damaged("a field has too many numbers");
    out.width = width_of(out.numbers);
    if (!field.contains("name") || !field["name"].is_string() || !field.contains("role") ||
        !field["role"].is_string()) {
      damaged("a field has no name or role");
    }
    out.name = field["name"].get<std::string>();
    out.numeric = field["role"] == "numeric";
    fields_.push_back(std::move(out));
  }
}

void CacheFile::check_groups() const {
  uint64_t rows = 0;
  for (const CacheGroup& group : groups_) {
    if (group.rows < 1 || group.rows > kMostRows) damaged("a group has no rows or too many");
    uint64_t parts = 0;
    for (const uint32_t part : group.parts) parts += part;
    if (parts != group.rows || group.offset % 8 != 0) damaged("its table of groups does not fit");
    piece(group.offset, GroupLayout(fields_, group.rows).bytes, "a group");
    rows += group.rows;
  }
  if (rows != header_.rows) damaged("its table of groups does not fit");
}

GroupView CacheFile::group(size_t number) const {
  const CacheGroup& group = groups_.at(number);
  const GroupLayout layout(fields_, group.rows);
  const char* base = data_ + group.offset;
  GroupView view;
  view.rows = group.rows;
  view.labels = reinterpret_cast<const uint8_t*>(base);
  view.parts = reinterpret_cast<const uint8_t*>(base + layout.parts);
  for (const uint64_t column : layout.columns) view.columns.push_back(base + column);
  if (!checked_[number].load(std::memory_order_acquire)) {
    check_group(number, view);
    checked_[number].store(true, std::memory_order_release);
  }
  return view;
}

void CacheFile::check_group(size_t number, const GroupView& view) const {
  const CacheGroup& group = groups_[number];
  const GroupLayout layout(fields_, group.rows);
  if (checksums_ && crc32({data_ + group.offset, layout.bytes}) != group.crc) {
    damaged(str("the checksum of group ", number, " does not match"));
  }
  uint32_t parts[kRowParts] = {};
  bool fits = true;
  for (uint32_t row = 0; row < group.rows; ++row) {
    fits = fits && view.labels[row] <= 1 && view.parts[row] < kRowParts;
    if (fits) ++parts[view.parts[row]];
  }
  fits = fits && std::equal(std::begin(parts), std::end(parts), std::begin(group.parts));
  for (size_t f = 0; fits && f < fields_.size(); ++f) {
    fits = all_below(view.columns[f], group.rows, fields_[f].numbers, fields_[f].width);
  }
  if (!fits) damaged(str("group ", number, " holds a number that is too large"));
}

std::vector<CountedValue> CacheFile::vocabulary(size_t field) const {
  const Json& json = metadata_["fields"][field];
  const auto number = [&](const char* key) {
    if (!json.contains(key) || !json[key].is_number_unsigned()) damaged(str("a field has no ", key));
    return json[key].get<uint64_t>();
  };
  const uint64_t count = number("values");
  if (count > kLargestVocabulary) damaged("a vocabulary is too large");
  const std::string_view bytes =
      piece(number("vocabulary_offset"), count * (sizeof(uint64_t) + sizeof(uint32_t)), "a vocabulary");
  if (checksums_ && crc32(bytes) != number("vocabulary_crc"))
    damaged("the checksum of a vocabulary does not match");
  std::vector<CountedValue> out(count);
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(&out[i].value, bytes.data() + i * sizeof(uint64_t), sizeof(uint64_t));
    std::memcpy(&out[i].count, bytes.data() + count * sizeof(uint64_t) + i * sizeof(uint32_t),
                sizeof(uint32_t));
  }
  return out;
}

Json cache_metadata(const std::filesystem::path& path) {
  CacheHeader header;
  if (!is_there(path)) return nullptr;
  const size_t got = InputFile(path).read(reinterpret_cast<char*>(&header), sizeof(header));
  const bool ours = std::memcmp(header.magic, CacheHeader().magic, sizeof(header.magic)) == 0;
  if (got == sizeof(header) && ours && header.version != CacheHeader().version) return nullptr;
  return CacheFile(path).metadata();
}

}  // namespace hewn::data
