#include "hewn/core/options.h"

#include <charconv>
#include <cmath>

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
  double parsed = 0;
  // "nan" and "inf" are read too, and pass for numbers in most comparisons.
  if (!read_number(text, parsed) || !std::isfinite(parsed)) reject(key, "a number", text);
  value = parsed;
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

}  // namespace hewn
