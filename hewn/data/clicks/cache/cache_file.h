#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/core/json.h"
#include "hewn/data/clicks/numbers/vocabulary.h"

namespace hewn::data {

/// Which part of the data a row belongs to.
enum class RowPart : uint8_t { kTrain = 0, kValidation = 1, kTest = 2 };
constexpr size_t kRowParts = 3;

/// The cache of a click log (docs/formats.md): a fixed header, groups of rows, vocabularies, a table of the
/// groups, metadata as JSON. All numbers are little-endian.
struct CacheHeader {
  char magic[8] = {'H', 'E', 'W', 'N', 'C', 'L', 'K', '\n'};
  uint32_t version = 1;
  uint32_t crc = 0;  // of the header with 0 here, the table and the metadata
  uint64_t rows = 0;
  uint64_t groups = 0;
  uint64_t table = 0;     // offset
  uint64_t metadata = 0;  // offset
  uint64_t file_bytes = 0;
};
static_assert(sizeof(CacheHeader) == 56);

struct CacheGroup {
  uint64_t offset = 0;
  uint32_t rows = 0;
  uint32_t parts[kRowParts] = {};  // rows of each
  uint32_t file = 0;               // that the rows come from
  uint32_t crc = 0;
};
static_assert(sizeof(CacheGroup) == 32);

/// One field of the model's input.
struct CacheField {
  std::string name;
  bool numeric = false;
  uint64_t numbers = 0;  // values are below
  uint32_t width = 0;    // bytes of a value: 1, 2 or 4
};
/// The width that so many numbers need.
uint32_t width_of(uint64_t numbers);

/// Where the columns of a group lie: labels (u8), parts (u8), then the fields, each on a multiple of 8 bytes.
struct GroupLayout {
  GroupLayout(const std::vector<CacheField>& fields, uint64_t rows);
  uint64_t parts;
  std::vector<uint64_t> columns;
  uint64_t bytes;
};

/// One group's rows, inside the mapped file.
struct GroupView {
  uint32_t rows = 0;
  const uint8_t* labels = nullptr;
  const uint8_t* parts = nullptr;
  std::vector<const char*> columns;
};

/// A cache, mapped into memory. Opening checks the header, table and metadata; a group is checked when it is
/// used for the first time. What does not fit throws FormatError, which says that the file should be deleted.
class CacheFile {
 public:
  /// `checksums` false: only what a checksum cannot promise is checked (for fuzzing).
  explicit CacheFile(const std::filesystem::path& path, bool checksums = true);
  ~CacheFile();
  CacheFile(const CacheFile&) = delete;
  CacheFile& operator=(const CacheFile&) = delete;

  const std::string& path() const { return path_; }
  const Json& metadata() const { return metadata_; }
  const std::vector<CacheField>& fields() const { return fields_; }
  uint64_t rows() const { return header_.rows; }
  uint64_t bytes() const { return size_; }
  const std::vector<CacheGroup>& groups() const { return groups_; }
  /// Threads may share it.
  GroupView group(size_t number) const;
  /// The values behind the numbers of a categorical field; empty where they were hashed.
  std::vector<CountedValue> vocabulary(size_t field) const;

 private:
  [[noreturn]] void damaged(const std::string& what) const;
  void read_head();
  void read_fields();
  void check_groups() const;
  void check_group(size_t number, const GroupView& view) const;
  std::string_view piece(uint64_t offset, uint64_t bytes, const char* what) const;

  std::string path_;
  bool checksums_;
  const char* data_ = nullptr;
  uint64_t size_ = 0;
  CacheHeader header_;
  Json metadata_;
  std::vector<CacheField> fields_;
  std::vector<CacheGroup> groups_;
  mutable std::unique_ptr<std::atomic<bool>[]> checked_;
};

/// The metadata of a cache file, or null where there is none of this version; FormatError where it is
/// damaged.
Json cache_metadata(const std::filesystem::path& path);

/// CRC that the header of a cache holds.
uint32_t head_crc(CacheHeader header, std::string_view table, std::string_view metadata);

}  // namespace hewn::data
