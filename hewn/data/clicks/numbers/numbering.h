#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "hewn/data/clicks/numbers/vocabulary.h"
#include "hewn/data/clicks/rows/spool.h"
#include "hewn/data/plumbing/input_file.h"

namespace hewn::data {

struct NumberingOptions {
  uint64_t min_count = 1;
  uint64_t hash_size = 0;  // above 0: hash, do not count
  size_t threads = 1;
};

/// What became of the values of a categorical field.
struct FieldCounts {
  uint64_t numbers = 0;   // how many numbers the field takes
  uint64_t values = 0;    // of which so many stand for one value
  uint64_t distinct = 0;  // values seen; 0 where they were hashed
  uint64_t missing = 0;   // rows
  uint64_t rare = 0;      // rows
};

/// Gives numbers to the values in the dictionaries of a spool, one field at a time, and keeps them in files:
/// memory holds the values of a few fields at most.
class Numbering {
 public:
  Numbering(const std::filesystem::path& folder, const std::filesystem::path& spool,
            const std::vector<SpooledGroup>& groups);

  /// progress(done) with done of all fields, from the calling thread.
  void run(const NumberingOptions& options, const std::function<void(size_t done)>& progress);

  const std::vector<FieldCounts>& fields() const { return fields_; }
  /// Numbers of a group's dictionary.
  void read_numbers(size_t group, size_t field, std::vector<uint32_t>& out) const;
  /// Values (u64) and then counts (u32) of a field's vocabulary.
  std::filesystem::path vocabulary_file(size_t field) const;

 private:
  void number_field(size_t field, const NumberingOptions& options);
  void visit(size_t field, const VisitPiece& piece) const;

  std::filesystem::path folder_;
  InputFile spool_;
  const std::vector<SpooledGroup>& groups_;
  std::vector<FieldCounts> fields_;
  std::vector<std::unique_ptr<InputFile>> numbers_;
  std::vector<std::vector<uint64_t>> offsets_;  // of a group's numbers, by field
};

}  // namespace hewn::data
