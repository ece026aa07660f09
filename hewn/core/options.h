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

/// One option: a field of a struct with its name and its help. Command line, config file and config.json all
/// go through this description.
struct Option {
  std::string key;   // as on the command line, without the dashes
  std::string help;  // one sentence, lower case
  bool is_flag = false;
  std::function<void(const std::string&)> parse;
  std::function<Json()> get;
};

/// The options of a struct, in the order of --help. Refers to the struct's fields, which must outlive it.
class OptionTable {
 public:
  template <class T>
  void add(const std::string& key, T& field, const std::string& help) {
    options_.push_back({key, help, std::is_same_v<T, bool>,
                        [key, &field](const std::string& text) { parse_value(key, text, field); },
                        [&field] { return json_of(field); }});
  }
  /// A flag that switches its field off.
  void add_negated(const std::string& key, bool& field, const std::string& help);

  const std::vector<Option>& options() const { return options_; }
  std::vector<std::string> keys() const;

  /// Throws Error for an unknown key, naming `where` (a file, "command line") and the nearest known key.
  const Option& find(const std::string& key, const std::string& where) const;

  Json to_json() const;
  /// Sets every field named in `values`. `where` is named in errors.
  void from_json(const Json& values, const std::string& where);

 private:
  std::vector<Option> options_;
};

}  // namespace hewn
