#pragma once

#include <cstdint>
#include <vector>

#include "hewn/data/clicks/cache/cache_file.h"
#include "hewn/data/clicks/options.h"

namespace hewn::data {

/// Which part a row belongs to, from its number alone.
class Split {
 public:
  /// `file_rows` holds the rows of each file.
  Split(const ClickOptions& options, const std::vector<uint64_t>& file_rows);
  RowPart part_of(uint64_t row) const;

 private:
  bool by_day_;
  double test_share_;
  double held_out_share_;
  uint64_t validation_begin_ = 0;
  uint64_t test_begin_ = 0;
};

}  // namespace hewn::data
