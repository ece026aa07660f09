#include "hewn/io/csv.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>

#include "hewn/core/error.h"
#include "hewn/core/files.h"

namespace hewn::io {
namespace {

constexpr size_t kChunk = size_t{1} << 18;
constexpr size_t kLongestRecord = size_t{1} << 28;

/// Puts up to so many bytes of a text there and says how many; 0 at its end.
using Pull = std::function<size_t(char* to, size_t most)>;

/// A text that can be read from its beginning as often as one likes.
struct Text {
  std::string where;
  std::function<Pull()> open;
};

/// A stream that ends in its middle gives what it has and no error; zlib only remembers it.
void check_end(gzFile file, const std::string& where) {
  int problem = Z_OK;
  gzerror(file, &problem);
  if (problem == Z_BUF_ERROR) throw FormatError(where, "ends in the middle (gzip): it was cut off");
  if (problem != Z_OK && problem != Z_STREAM_END) throw FormatError(where, "is damaged (gzip)");
}

Text text_of_file(const std::filesystem::path& path) {
  return {path.string(), [path]() -> Pull {
            expect_file(path);
            const std::shared_ptr<gzFile_s> file(gzopen(path.c_str(), "rb"),
                                                 [](gzFile open) { gzclose(open); });
            if (file == nullptr) throw FormatError(path.string(), "cannot be read");
            gzbuffer(file.get(), 1 << 18);
            return [path, file](char* to, size_t most) {
              const int got = gzread(file.get(), to, static_cast<unsigned>(most));
              if (got < 0) throw FormatError(path.string(), "is damaged (gzip)");
              if (static_cast<size_t>(got) < most) check_end(file.get(), path.string());
              return static_cast<size_t>(got);
            };
          }};
}

Text text_in_memory(std::string_view all, const std::string& where) {
  return {where, [all]() -> Pull {
            return [left = all](char* to, size_t most) mutable {
              const size_t got = left.copy(to, most);
              left.remove_prefix(got);
              return got;
            };
          }};
}

/// Records of a text one after the other; a record ends at a line break outside quotes.
class Records {
 public:
  explicit Records(const Text& text) : where_(text.where), pull_(text.open()) {}

  /// False at the end. Blank lines are skipped. The record is valid until the next call.
  bool next(std::string_view& record) {
    do {
      if (!take(record)) return false;
    } while (record.empty());
    return true;
  }
  /// Line on which the last record began, from 1.
  int64_t line() const { return line_; }

 private:
  bool take(std::string_view& record) {
    line_ += lines_taken_;
    lines_taken_ = 1;
    size_t at = begin_;
    bool quoted = false;
    while (true) {
      for (; at < buffer_.size(); ++at) {
        const char c = buffer_[at];
        if (c == '"') quoted = !quoted;
        if (c != '\n') continue;
        if (quoted) {
          ++lines_taken_;
          continue;
        }
        record = trimmed(begin_, at);
        begin_ = at + 1;
        return true;
      }
      if (!fill(at)) break;
    }
    if (quoted) throw FormatError(where_, str("line ", line_, ": a quote is not closed"));
    if (begin_ == buffer_.size()) return false;
    record = trimmed(begin_, buffer_.size());
    begin_ = buffer_.size();
    return true;
  }
  std::string_view trimmed(size_t first, size_t end) const {
    if (end > first && buffer_[end - 1] == '\r') --end;
    return std::string_view(buffer_).substr(first, end - first);
  }
  bool fill(size_t& at) {
    if (done_) return false;
    buffer_.erase(0, begin_);
    at -= begin_;
    begin_ = 0;
    if (buffer_.size() > kLongestRecord) {
      throw FormatError(where_, str("line ", line_, ": is longer than 256 MiB; is this a CSV file?"));
    }
    const size_t before = buffer_.size();
    buffer_.resize(before + kChunk);
    const size_t got = pull_(buffer_.data() + before, kChunk);
    buffer_.resize(before + got);
    done_ = got == 0;
    return got > 0;
  }

  std::string where_;
  Pull pull_;
  std::string buffer_;
  size_t begin_ = 0;
  bool done_ = false;
  int64_t line_ = 0;
  int64_t lines_taken_ = 1;
};

std::string_view stripped(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Calls visit(column, text) for each field and returns their number.
template <class Visit>
int64_t for_each_field(std::string_view record, char separator, std::string& scratch, Visit visit) {
  int64_t column = 0;
  size_t at = 0;
  while (true) {
    while (at < record.size() && (record[at] == ' ' || record[at] == '\t') && record[at] != separator) ++at;
    if (at < record.size() && record[at] == '"') {
      scratch.clear();
      for (++at; at < record.size(); ++at) {
        if (record[at] != '"') {
          scratch.push_back(record[at]);
        } else if (at + 1 < record.size() && record[at + 1] == '"') {
          scratch.push_back('"');
          ++at;
        } else {
          ++at;
          break;
        }
      }
      const size_t end = std::min(record.find(separator, at), record.size());
      scratch.append(stripped(record.substr(at, end - at)));
      visit(column++, std::string_view(scratch));
      at = end;
    } else {
      const size_t end = std::min(record.find(separator, at), record.size());
      visit(column++, stripped(record.substr(at, end - at)));
      at = end;
    }
    if (at >= record.size()) return column;
    ++at;  // the separator
  }
}

std::string_view without_mark(std::string_view record) {
  return record.starts_with("\xEF\xBB\xBF") ? record.substr(3) : record;  // byte-order mark
}

std::string shown(std::string_view text) {
  return text.size() > 40 ? std::string(text.substr(0, 40)) + "..." : std::string(text);
}

struct Shape {
  int64_t rows = 0;
  int64_t columns = 0;
  bool header = false;
  std::vector<std::string> first;
};

Shape count(const Text& all, const CsvOptions& options) {
  Records records(all);
  Shape shape;
  std::string_view record;
  std::string scratch;
  bool any_number = false;
  while (records.next(record)) {
    if (shape.rows == 0) {
      shape.columns = for_each_field(
          without_mark(record), options.separator, scratch, [&](int64_t, std::string_view text) {
            double unused = 0;
            any_number = any_number || parse_number(text, unused) || is_missing(text);
            shape.first.emplace_back(text);
          });
    } else {
      const int64_t columns =
          for_each_field(record, options.separator, scratch, [](int64_t, std::string_view) {});
      if (columns != shape.columns) {
        throw FormatError(all.where, str("line ", records.line(), ": has ", columns, " fields, expected ",
                                         shape.columns, " as in the first line"));
      }
    }
    ++shape.rows;
  }
  if (shape.rows == 0) throw FormatError(all.where, "is empty");
  shape.header = options.header == Header::kYes || (options.header == Header::kAuto && !any_number);
  if (shape.header) --shape.rows;
  if (shape.rows == 0) throw FormatError(all.where, "has a header but no samples");
  return shape;
}

Table read_table(const Text& all, const CsvOptions& options) {
  const Shape shape = count(all, options);
  Table table;
  table.rows = shape.rows;
  table.has_header = shape.header;
  for (int64_t c = 0; c < shape.columns; ++c) {
    table.names.push_back(shape.header ? shape.first[static_cast<size_t>(c)] : str("column ", c + 1));
  }
  std::vector<bool> is_text(static_cast<size_t>(shape.columns), false);
  if (options.text_columns) is_text = options.text_columns(table.names);
  std::vector<int64_t> slot(static_cast<size_t>(shape.columns));
  for (int64_t c = 0; c < shape.columns; ++c) {
    auto& list = is_text[static_cast<size_t>(c)] ? table.text_columns : table.numeric;
    slot[static_cast<size_t>(c)] = static_cast<int64_t>(list.size());
    list.push_back(c);
  }
  table.values.resize(static_cast<size_t>(shape.rows) * table.numeric.size());
  table.text.assign(table.text_columns.size(), {});
  for (auto& column : table.text) column.reserve(static_cast<size_t>(shape.rows));
  table.lines.reserve(static_cast<size_t>(shape.rows));

  Records records(all);
  std::string_view record;
  std::string scratch;
  int64_t row = shape.header ? -1 : 0;
  bool first = true;
  for (; row < shape.rows && records.next(record); ++row) {
    if (first) record = without_mark(record);
    first = false;
    if (row < 0) continue;
    table.lines.push_back(records.line());
    const int64_t columns =
        for_each_field(record, options.separator, scratch, [&](int64_t c, std::string_view text) {
          if (c >= shape.columns) return;
          const auto at = static_cast<size_t>(slot[static_cast<size_t>(c)]);
          if (is_text[static_cast<size_t>(c)]) {
            table.text[at].emplace_back(text);
            return;
          }
          double& value = table.values[at * static_cast<size_t>(shape.rows) + static_cast<size_t>(row)];
          if (parse_number(text, value)) return;
          if (!is_missing(text)) {
            throw FormatError(all.where,
                              str("line ", records.line(), ", column \"", table.names[static_cast<size_t>(c)],
                                  "\": expected a number, got \"", shown(text), "\""));
          }
          value = std::numeric_limits<double>::quiet_NaN();
          if (table.missing++ == 0) table.first_missing = Missing{records.line(), c};
        });
    if (columns != shape.columns) throw FormatError(all.where, "changed while it was read");
  }
  if (row != shape.rows) throw FormatError(all.where, "changed while it was read");
  return table;
}

}  // namespace

bool parse_number(std::string_view text, double& value) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  return problem == std::errc() && stop == end && std::isfinite(value);
}

bool is_missing(std::string_view text) {
  return text.empty() || text == "NA" || text == "NaN" || text == "nan" || text == "null" || text == "?";
}

Table read_csv(const std::filesystem::path& path, const CsvOptions& options) {
  if (std::filesystem::is_directory(path)) throw FormatError(path.string(), "is a folder, expected a file");
  return read_table(text_of_file(path), options);
}

Table parse_csv(std::string_view text, const std::string& where, const CsvOptions& options) {
  return read_table(text_in_memory(text, where), options);
}

}  // namespace hewn::io
