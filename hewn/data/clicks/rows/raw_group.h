#pragma once

#include <cstdint>
#include <vector>

#include "hewn/data/clicks/rows/row_parser.h"

namespace hewn::data {

/// Rows as they lie in the spool file, before their values have numbers. Every categorical column has a
/// dictionary of the values that occur in this group, in the order of first use, and a 16-bit code per row;
/// so counting values and giving them numbers works on dictionaries, which are far smaller than the rows.
///
/// Layout, little-endian, each part on a multiple of 8 bytes: rows, dictionary sizes and largest buckets
/// (u32), values of all dictionaries (u64), how often each occurs (u32), numeric buckets (u16), codes (u16),
/// labels (u8).
struct RawGroup {
  uint32_t rows = 0;
  std::vector<uint32_t> sizes;    // of the dictionaries
  std::vector<uint32_t> largest;  // bucket of each numeric column

  /// Offsets from the group's beginning.
  uint64_t values_at(size_t field) const;
  uint64_t counts_at(size_t field) const;
  uint64_t numeric_at(size_t column) const;
  uint64_t codes_at(size_t field) const;
  uint64_t labels_at() const;
  uint64_t bytes() const;
};

/// Most rows of a group: codes have 16 bits, and wide rows must not take too much memory.
size_t rows_per_group(const Schema& schema);

/// Turns parsed rows into groups. Keeps its tables between calls.
class GroupEncoder {
 public:
  /// Appends the group to `out`.
  void encode(const RowBlock& block, std::vector<char>& out);

 private:
  void encode_column(const uint64_t* values, size_t rows);

  std::vector<uint32_t> table_;  // 1 + index into dictionary_, 0 where free
  std::vector<uint64_t> dictionary_;
  std::vector<uint32_t> counts_;
  std::vector<uint16_t> codes_;
};

}  // namespace hewn::data
