#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hewn/core/grid.h"
#include "hewn/core/json.h"

namespace hewn {

/// Reads one value from text; `key` is named in the Error when the text does not fit.
void parse_value(const std::string& key, const std::string& text, bool& value);
void parse_value(const std::string& key, const std::string& text, int64_t& value);
void parse_value(const std::string& key, const std::string& text, double& value);
void parse_value(const std::string& key, const std::string& text, std::string& value);
void parse_value(const std::string& key, const std::string& text, std::vector<int64_t>& value);
void parse_value(const std::string& key, const std::string& text, std::vector<std::string>& value);
void parse_value(const std::string& key, const std::string& text, BlockShape& value);

/// "auto" leaves the choice to the program.
template <class T>
void parse_value(const std::string& key, const std::string& text, std::optional<T>& value) {
  if (text == "auto") {
    value.reset();
    return;
  }
  T parsed{};
  parse_value(key, text, parsed);
  value = parsed;
}

template <class T>
Json json_of(const T& value) {
  return Json(value);
}
template <class T>
Json json_of(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
/// As they are given: with commas between, and as 16 or 8x32.
Json json_of(const std::vector<std::string>& value);
Json json_of(const BlockShape& value);

/// One option: a field of a struct with its name, its help and what holds for it. Command line, config file
/// and config.json all go through this description.
struct Option {
  std::string key;   // as on the command line, without the dashes
  std::string help;  // one sentence, lower case
  bool is_flag = false;
  std::function<void(const std::string&)> parse;
  std::function<Json()> get;
  /// Which values there are, in words, and whether that is one of them. Empty: all that can be parsed.
  std::string expected = {};
  std::function<bool(const Json&)> fits = {};
  bool only_prunes = false;           // the dense model does not depend on it
  bool may_change_on_resume = false;  // it does not decide what is trained
  std::string replaced_by = {};       // of a key that earlier versions had: the one it has now
  std::string group = {};             // heading of a long --help that it stands under
};

/// The options of a struct, in the order of --help. Refers to the struct's fields, which must outlive it.
class OptionTable {
 public:
  /// A row that was just added; what else holds for it is said behind it.
  class Row {
   public:
    Row(OptionTable& table, size_t number) : table_(table), number_(number) {}
    Row& at_least(int64_t least);
    Row& above(double limit);
    Row& between(int64_t least, int64_t most);
    /// The same of each number of a list.
    Row& all_between(int64_t least, int64_t most);
    /// In [0, 1).
    Row& share();
    /// In [0, 1].
    Row& share_or_all();
    Row& one_of(const std::vector<std::string>& words);
    Row& only_prunes();
    Row& may_change_on_resume();
    /// Stands under another heading than the rows around it.
    Row& in(const std::string& group);
    /// A key that it had in earlier versions: still read, no longer shown.
    Row& was(const std::string& key);
    /// The same of a flag that stood for the opposite.
    Row& was_not(const std::string& key);
    /// The same of a flag beside it that switched it off, and said nothing where it was false.
    Row& was_off_by(const std::string& key);

   private:
    Option& option() { return table_.options_[number_]; }
    Row& expect(const std::string& words, std::function<bool(const Json&)> fits);

    OptionTable& table_;
    size_t number_;
  };

  /// The rows that follow stand under this heading.
  void group(const std::string& name) { group_ = name; }

  template <class T>
  Row add(const std::string& key, T& field, const std::string& help) {
    options_.push_back({key, help, std::is_same_v<T, bool>,
                        [key, &field](const std::string& text) { parse_value(key, text, field); },
                        [&field] { return json_of(field); }});
    options_.back().group = group_;
    return {*this, options_.size() - 1};
  }

  const std::vector<Option>& options() const { return options_; }
  /// Rows of keys that are read, but not shown.
  const std::vector<Option>& old_options() const { return old_; }
  std::vector<std::string> keys() const;

  /// The rows of these keys alone, in this order.
  OptionTable pick(const std::vector<std::string>& keys) const;

  /// Throws Error for an unknown key, naming `where` (a file, "command line") and the nearest known key.
  const Option& find(const std::string& key, const std::string& where) const;

  /// Throws Error, naming the key, for the first value that does not fit its row.
  void check() const;

  Json to_json() const;
  /// Sets every field named in `values`. `where` is named in errors.
  void from_json(const Json& values, const std::string& where);

 private:
  std::vector<Option> options_;
  std::vector<Option> old_;
  std::string group_;
};

}  // namespace hewn
