#include "hewn/data/clicks/rows/row_parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "hewn/core/error.h"
#include "hewn/data/clicks/rows/buckets.h"
#include "hewn/data/plumbing/hash.h"

namespace hewn::data {
namespace {

constexpr uint8_t kNoDigit = 0xff;
constexpr size_t kHexDigits = 8;

constexpr std::array<uint8_t, 256> make_hex_table() {
  std::array<uint8_t, 256> table{};
  for (size_t c = 0; c < table.size(); ++c) {
    table[c] = static_cast<uint8_t>(c >= '0' && c <= '9'   ? c - '0'
                                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                           : kNoDigit);
  }
  return table;
}
constexpr std::array<uint8_t, 256> kHex = make_hex_table();

uint8_t hex_digit(char c) { return kHex[static_cast<unsigned char>(c)]; }

}  // namespace

RowBlock::RowBlock(const Schema& schema, size_t rows_at_most)
    : capacity(rows_at_most),
      labels(rows_at_most),
      numeric(rows_at_most * schema.count(Role::kNumeric)),
      categorical(rows_at_most * schema.count(Role::kCategorical)) {}

/// One value up to the separator behind it, without its quotes.
Problem RowParser::take_text(std::string_view& out) {
  if (!schema_.quotes || next_ == end_ || *next_ != '"') {
    const auto left = static_cast<size_t>(end_ - next_);
    const void* found = left == 0 ? nullptr : std::memchr(next_, schema_.separator, left);
    const char* stop = found == nullptr ? end_ : static_cast<const char*>(found);
    out = {next_, static_cast<size_t>(stop - next_)};
    next_ = stop;
    return Problem::kNone;
  }
  unquoted_.clear();
  for (++next_; next_ != end_; ++next_) {
    if (*next_ == '"' && (++next_ == end_ || *next_ != '"')) {
      out = unquoted_;
      return at_field_end() ? Problem::kNone : Problem::kQuotes;
    }
    unquoted_.push_back(*next_);
  }
  return Problem::kQuotes;
}

bool RowParser::take_label(uint8_t& out) {
  std::string_view text;
  if (take_text(text) != Problem::kNone || text.size() != 1 || (text[0] != '0' && text[0] != '1'))
    return false;
  out = text[0] == '1' ? 1 : 0;
  return true;
}

template <class Number>
uint16_t RowParser::bucket_of(size_t column, Number value) const {
  if (cuts_.empty()) return bucket(value);
  const std::vector<double>& cuts = cuts_[column];
  const auto above = std::upper_bound(cuts.begin(), cuts.end(), static_cast<double>(value));
  return static_cast<uint16_t>(1 + (above - cuts.begin()));
}

Problem RowParser::take_number(size_t column, uint16_t& out) {
  constexpr std::ptrdiff_t kSafeDigits = 18;
  const char* const begin = next_;
  const bool negative = next_ != end_ && *next_ == '-';
  if (negative) ++next_;
  const char* const digits = next_;
  int64_t value = 0;
  while (next_ != end_ && static_cast<unsigned char>(*next_ - '0') < 10 && next_ - digits < kSafeDigits) {
    value = 10 * value + (*next_++ - '0');
  }
  if (at_field_end() && (next_ != digits || !negative)) {
    out = next_ == digits ? kMissingBucket : bucket_of(column, negative ? -value : value);
    return Problem::kNone;
  }
  next_ = begin;
  std::string_view text;
  const Problem problem = take_text(text);
  if (problem != Problem::kNone) return problem;
  out = kMissingBucket;
  if (text.empty()) return Problem::kNone;
  double number = 0;
  const char* const stop = text.data() + text.size();
  const auto read = std::from_chars(text.data(), stop, number);
  if (read.ec != std::errc() || read.ptr != stop || !std::isfinite(number)) return Problem::kNumber;
  out = bucket_of(column, number);
  return Problem::kNone;
}

Problem RowParser::take_hex(uint64_t& out) {
  if (static_cast<size_t>(end_ - next_) >= kHexDigits) {
    uint32_t value = 0;
    uint8_t seen = 0;
    for (size_t i = 0; i < kHexDigits; ++i) {
      const uint8_t digit = hex_digit(next_[i]);
      seen |= digit;
      value = (value << 4) | (digit & 0xf);
    }
    if (seen < 0x10) {
      next_ += kHexDigits;
      out = value;
      return at_field_end() ? Problem::kNone : Problem::kCategory;
    }
  }
  const char* const begin = next_;
  uint64_t value = 0;
  while (!at_field_end()) {
    const uint8_t digit = hex_digit(*next_++);
    if (digit == kNoDigit || next_ - begin > static_cast<std::ptrdiff_t>(kHexDigits))
      return Problem::kCategory;
    value = (value << 4) | digit;
  }
  out = next_ == begin ? kMissing : value;
  return Problem::kNone;
}

Problem RowParser::take_category(uint64_t& out) {
  if (schema_.hex) return take_hex(out);
  std::string_view text;
  const Problem problem = take_text(text);
  if (problem != Problem::kNone) return problem;
  const uint64_t hash = hash_text(text);
  out = text.empty() ? kMissing : hash == kMissing ? 0 : hash;
  return Problem::kNone;
}

Parsed RowParser::parse(std::string_view line, RowBlock& block) {
  next_ = line.data();
  end_ = line.data() + line.size();
  size_t numeric = 0;
  size_t categorical = block.rows;
  for (size_t c = 0; c < schema_.columns.size(); ++c) {
    if (c > 0) {
      if (next_ == end_) return {Problem::kColumns, c};
      ++next_;  // a value ends at a separator or at the end
    }
    Problem problem = Problem::kNone;
    std::string_view ignored;
    switch (schema_.columns[c].role) {
      case Role::kLabel:
        if (!take_label(block.labels[block.rows])) problem = Problem::kLabel;
        break;
      case Role::kNumeric:
        problem = take_number(numeric, block.numeric[block.rows + numeric * block.capacity]);
        ++numeric;
        break;
      case Role::kCategorical:
        problem = take_category(block.categorical[categorical]);
        categorical += block.capacity;
        break;
      case Role::kIgnored:
        problem = take_text(ignored);
        break;
    }
    if (problem != Problem::kNone) return {problem, c};
  }
  if (next_ != end_) return {Problem::kColumns, schema_.columns.size()};
  ++block.rows;
  return {};
}

std::string RowParser::explain(const Parsed& parsed, std::string_view line) const {
  const auto column = [&] {
    return str("column ", parsed.column + 1, " (", schema_.columns[parsed.column].name, ")");
  };
  switch (parsed.problem) {
    case Problem::kColumns:
      return str("expected ", schema_.columns.size(), " columns, got ",
                 split_line(line, schema_.separator, schema_.quotes).size());
    case Problem::kLabel:
      return str(column(), ": expected the label 0 or 1");
    case Problem::kNumber:
      return str(column(), ": expected a number");
    case Problem::kCategory:
      return str(column(), ": expected at most 8 hexadecimal digits");
    case Problem::kQuotes:
      return str(column(), ": the quotes do not match");
    case Problem::kTooLong:
      return "the line is too long";
    case Problem::kNone:
      break;
  }
  return "";
}

}  // namespace hewn::data
