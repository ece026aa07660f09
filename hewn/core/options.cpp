#include "hewn/core/options.h"

#include <charconv>

#include "hewn/core/error.h"
#include "hewn/core/text.h"

namespace hewn {
namespace {

[[noreturn]] void reject(const std::string& key, const std::string& expected, const std::string& text) {
  throw Error(str(key, ": expected ", expected, ", got \"", text, "\""));
}

template <class T>
bool read_number(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  return problem == std::errc() && stop == end;
}

std::string text_of(const Json& value) {
  if (value.is_null()) return "auto";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string out;
  for (const Json& item : value) {
    if (!out.empty()) out.push_back(',');
    out.append(item.dump());
  }
  return out;
}

}  // namespace

void parse_value(const std::string& key, const std::string& text, bool& value) {
  if (text == "true" || text == "on" || text == "yes" || text == "1") {
    value = true;
  } else if (text == "false" || text == "off" || text == "no" || text == "0") {
    value = false;
  } else {
    reject(key, "true or false", text);
  }
}

void parse_value(const std::string& key, const std::string& text, int64_t& value) {
  if (!read_number(text, value)) reject(key, "a whole number", text);
}

void parse_value(const std::string& key, const std::string& text, double& value) {
  if (!read_number(text, value)) reject(key, "a number", text);
}

void parse_value(const std::string& /*key*/, const std::string& text, std::string& value) { value = text; }

void parse_value(const std::string& key, const std::string& text, std::vector<int64_t>& value) {
  std::vector<int64_t> parsed;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    int64_t item = 0;
    if (!read_number(std::string_view(text).substr(begin, end - begin), item)) {
      reject(key, "whole numbers with commas between", text);
    }
    parsed.push_back(item);
    begin = end + 1;
  }
  value = std::move(parsed);
}

void parse_value(const std::string& /*key*/, const std::string& text, std::vector<std::string>& value) {
  value = split(text, ',');
}

void parse_value(const std::string& /*key*/, const std::string& text, BlockShape& value) {
  value = parse_block(text);
}

Json json_of(const std::vector<std::string>& value) {
  std::string text;
  for (const std::string& word : value) text += (text.empty() ? "" : ",") + word;
  return text;
}

Json json_of(const BlockShape& value) { return short_text(value); }

void OptionTable::add_negated(const std::string& key, bool& field, const std::string& help) {
  options_.push_back({key, help, /*is_flag=*/true,
                      [key, &field](const std::string& text) {
                        bool off = false;
                        parse_value(key, text, off);
                        field = !off;
                      },
                      [&field] { return Json(!field); }});
}

std::vector<std::string> OptionTable::keys() const {
  std::vector<std::string> out;
  for (const Option& option : options_) out.push_back(option.key);
  return out;
}

const Option& OptionTable::find(const std::string& key, const std::string& where) const {
  for (const Option& option : options_) {
    if (option.key == key) return option;
  }
  throw Error(str(where, ": unknown key \"", key, "\"", did_you_mean(key, keys())));
}

Json OptionTable::to_json() const {
  Json out = Json::object();
  for (const Option& option : options_) out[option.key] = option.get();
  return out;
}

void OptionTable::from_json(const Json& values, const std::string& where) {
  if (!values.is_object()) throw FormatError(where, "expected a JSON object of options");
  for (const auto& [key, value] : values.items()) find(key, where).parse(text_of(value));
}

}  // namespace hewn
