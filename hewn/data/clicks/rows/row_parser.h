#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hewn/data/clicks/rows/schema.h"

namespace hewn::data {

/// Stands for a missing categorical value; hashes of texts never take it.
constexpr uint64_t kMissing = ~uint64_t{0};

/// Parsed rows, a column at a time: column c of `numeric` and `categorical` begins at c * capacity.
struct RowBlock {
  RowBlock(const Schema& schema, size_t capacity);

  size_t capacity;
  size_t rows = 0;
  std::vector<uint8_t> labels;
  std::vector<uint16_t> numeric;      // buckets (buckets.h)
  std::vector<uint64_t> categorical;  // the number itself with Schema::hex, else hash_text; or kMissing
};

enum class Problem : uint8_t { kNone, kColumns, kLabel, kNumber, kCategory, kQuotes, kTooLong };

struct Parsed {
  Problem problem = Problem::kNone;
  size_t column = 0;
};

/// Reads rows without allocating memory. Any value but the label may be missing.
class RowParser {
 public:
  explicit RowParser(const Schema& schema) : schema_(schema) {}
  /// Numeric values become buckets by these cuts (bucket_cuts), a list for each numeric column, instead of by
  /// bucket().
  RowParser(const Schema& schema, std::vector<std::vector<double>> cuts)
      : schema_(schema), cuts_(std::move(cuts)) {}

  /// Adds the row to the block, which has room for it. `line` comes without its newline.
  Parsed parse(std::string_view line, RowBlock& block);
  /// Why a row was refused, for people.
  std::string explain(const Parsed& parsed, std::string_view line) const;

 private:
  bool take_label(uint8_t& out);
  Problem take_number(size_t column, uint16_t& out);
  template <class Number>
  uint16_t bucket_of(size_t column, Number value) const;
  Problem take_category(uint64_t& out);
  Problem take_hex(uint64_t& out);
  Problem take_text(std::string_view& out);
  bool at_field_end() const { return next_ == end_ || *next_ == schema_.separator; }

  Schema schema_;
  std::vector<std::vector<double>> cuts_;
  std::string unquoted_;
  const char* next_ = nullptr;
  const char* end_ = nullptr;
};

}  // namespace hewn::data
