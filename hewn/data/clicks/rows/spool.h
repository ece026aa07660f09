#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hewn/data/clicks/rows/raw_group.h"
#include "hewn/data/plumbing/output_file.h"

namespace hewn::data {

/// A malformed row.
struct BadRow {
  uint64_t line = 0;  // within its chunk, the first is 0
  std::string reason;
};

/// What came out of one chunk of text.
struct Record {
  uint32_t file = 0;
  uint64_t chunk = 0;
  bool last = false;  // chunk of its file
  uint64_t lines = 0;
  uint64_t rows = 0;
  uint64_t clicks = 0;        // rows with label 1
  uint64_t bad = 0;           // malformed rows
  std::vector<BadRow> first;  // of the malformed ones
  uint32_t groups = 0;
  std::vector<char> payload;  // groups, one behind the other
};

/// Where a group lies in the spool.
struct SpooledGroup {
  uint64_t offset = 0;
  uint32_t file = 0;
  RawGroup shape;
};

/// The rows of all finished chunks in their order, an intermediate file while a cache is built. Every record
/// carries its checksum, so a build that was killed goes on behind the last whole one.
class Spool {
 public:
  Spool(const std::filesystem::path& path, size_t categorical, size_t numeric);

  /// The records that were there when it was opened, without payloads.
  const std::vector<Record>& found() const { return found_; }
  void append(const Record& record);
  const std::vector<SpooledGroup>& groups() const { return groups_; }
  uint64_t bytes() const { return file_.size(); }

 private:
  void recover();
  bool index_groups(const std::vector<char>& payload, uint32_t groups, uint64_t offset, uint32_t file);

  std::filesystem::path path_;
  size_t categorical_;
  size_t numeric_;
  OutputFile file_;
  std::vector<Record> found_;
  std::vector<SpooledGroup> groups_;
};

}  // namespace hewn::data
