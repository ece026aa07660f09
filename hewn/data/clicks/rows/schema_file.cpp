// The small text format in which a user says what the columns of a click log mean.
#include <algorithm>
#include <charconv>
#include <set>

#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/data/clicks/rows/schema.h"

namespace hewn::data {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& path) : text_(text) { file_.path = path; }

  SchemaFile run() {
    for (size_t begin = 0; begin < text_.size();) {
      const size_t end = std::min(text_.find('\n', begin), text_.size());
      ++line_;
      take(trimmed(text_.substr(begin, end - begin)));
      begin = end + 1;
    }
    if (!keys_.contains("label")) throw FormatError(file_.path, "has no line label = COLUMN");
    return std::move(file_);
  }

 private:
  [[noreturn]] void reject(const std::string& what) const {
    throw FormatError(str(file_.path, ":", line_), what);
  }

  void take(std::string_view line) {
    if (line.empty() || line.front() == '#') return;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) reject(str("expected key = value, got \"", line, "\""));
    const std::string key(trimmed(line.substr(0, equals)));
    const std::string_view value = trimmed(line.substr(equals + 1));
    const std::vector<std::string> known = {"separator", "header",      "label",
                                            "numeric",   "categorical", "ignore"};
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      reject(str("unknown key \"", key, "\"", did_you_mean(key, known), "; known: ", join(known)));
    }
    if (!keys_.insert(key).second) reject(str("the key ", key, " is given twice"));
    if (key == "separator") return set_separator(unquoted(value));
    if (key == "header") return set_header(unquoted(value));
    const Role role = key == "label"     ? Role::kLabel
                      : key == "numeric" ? Role::kNumeric
                      : key == "ignore"  ? Role::kIgnored
                                         : Role::kCategorical;
    add_columns(value, role);
  }

  void set_separator(std::string_view value) {
    if (value == "tab" || value == "\\t") value = "\t";
    if (value.size() != 1 || std::string_view("\"\n\r").find(value[0]) != std::string_view::npos) {
      reject(str("separator: expected one character such as \",\" or \"\\t\", got \"", value, "\""));
    }
    file_.separator = value[0];
  }

  void set_header(std::string_view value) {
    if (value != "true" && value != "false")
      reject(str("header: expected true or false, got \"", value, "\""));
    file_.header = value == "true";
  }

  void add_columns(std::string_view value, Role role) {
    for (const std::string& word : split_line(value, ',', true)) {
      const std::string name(trimmed(word));
      if (name.empty()) reject("expected names of columns with commas between");
      if (role == Role::kIgnored && name == "*") {
        file_.ignore_others = true;
      } else {
        file_.entries.push_back({name, role, line_});
      }
    }
  }

  std::string_view text_;
  SchemaFile file_;
  std::set<std::string> keys_;
  int64_t line_ = 0;
};

[[noreturn]] void reject(const SchemaFile& file, const SchemaFile::Entry& entry, const std::string& what) {
  throw FormatError(str(file.path, ":", entry.line), what);
}

void assign(const SchemaFile& file, const SchemaFile::Entry& entry, Column& column, std::vector<bool>& done,
            size_t index) {
  if (done[index]) reject(file, entry, str("column \"", entry.text, "\" is named twice"));
  done[index] = true;
  column.role = entry.role;
}

std::vector<bool> by_name(const SchemaFile& file, std::string_view header, const std::string& data,
                          Schema& schema) {
  if (header.starts_with("\xef\xbb\xbf")) header.remove_prefix(3);
  if (header.ends_with('\r')) header.remove_suffix(1);
  const std::vector<std::string> names = split_line(header, file.separator, true);
  if (names.size() > static_cast<size_t>(kMostColumns))
    throw FormatError(data, str("has more than ", kMostColumns, " columns"));
  for (const std::string& name : names) schema.columns.push_back({name});
  std::vector<bool> done(names.size());
  for (const SchemaFile::Entry& entry : file.entries) {
    const auto found = std::find(names.begin(), names.end(), entry.text);
    if (found == names.end()) {
      reject(file, entry,
             str("no column \"", entry.text, "\" in the header of ", data, did_you_mean(entry.text, names)));
    }
    const auto index = static_cast<size_t>(found - names.begin());
    assign(file, entry, schema.columns[index], done, index);
  }
  return done;
}

std::vector<bool> by_number(const SchemaFile& file, Schema& schema) {
  std::vector<bool> done;
  for (const SchemaFile::Entry& entry : file.entries) {
    int64_t first = 0;
    const char* end = entry.text.data() + entry.text.size();
    auto [stop, problem] = std::from_chars(entry.text.data(), end, first);
    int64_t last = first;
    if (problem == std::errc() && stop != end && *stop == '-') {
      const auto second = std::from_chars(stop + 1, end, last);
      stop = second.ptr;
      problem = second.ec;
    }
    if (problem != std::errc() || stop != end || first < 1 || last < first || last > kMostColumns) {
      reject(file, entry,
             str("expected a column's number from 1 to ", kMostColumns,
                 " or a range like 2-14, since header is false; got \"", entry.text, "\""));
    }
    if (schema.columns.size() < static_cast<size_t>(last)) schema.columns.resize(static_cast<size_t>(last));
    done.resize(schema.columns.size());
    for (int64_t number = first; number <= last; ++number) {
      const auto index = static_cast<size_t>(number - 1);
      schema.columns[index].name = str("column ", number);
      assign(file, entry, schema.columns[index], done, index);
    }
  }
  return done;
}

}  // namespace

SchemaFile parse_schema(std::string_view text, const std::string& path) { return Parser(text, path).run(); }

Schema resolve(const SchemaFile& file, std::string_view header, const std::string& data) {
  Schema schema;
  schema.separator = file.separator;
  schema.header = file.header;
  schema.quotes = true;
  const std::vector<bool> done = file.header ? by_name(file, header, data, schema) : by_number(file, schema);
  for (size_t i = 0; i < done.size(); ++i) {
    if (done[i] || file.ignore_others) continue;
    throw FormatError(file.path, str("says nothing about column ", i + 1,
                                     file.header ? str(" (\"", schema.columns[i].name, "\")") : "", " of ",
                                     data, "; add it to a line, or ignore = * for all others"));
  }
  for (Column& column : schema.columns) column.name = valid_utf8(column.name);
  if (schema.count(Role::kLabel) != 1) throw FormatError(file.path, "label: expected one column");
  if (schema.fields().empty()) throw FormatError(file.path, "names no numeric or categorical column");
  return schema;
}

}  // namespace hewn::data
