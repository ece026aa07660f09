#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "hewn/core/error.h"

namespace hewn {

/// Limits of a preprocessing rule as JSON, where it is found and where it is read.
constexpr size_t kMostRuleBytes = size_t{1} << 20;
// Ordered objects are searched from front to back: many keys would take the square of their number.
constexpr size_t kMostRuleKeys = size_t{1} << 14;

/// Colons outside strings.
inline size_t keys_in(std::string_view json) {
  size_t keys = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    if (in_string && json[i] == '\\') {
      ++i;  // what is escaped ends no string
    } else if (json[i] == '"') {
      in_string = !in_string;
    } else if (json[i] == ':' && !in_string) {
      ++keys;
    }
  }
  return keys;
}

/// What is too much of a rule, to stand behind its name; "" where nothing is.
inline std::string excess_of_rule(std::string_view json) {
  if (json.size() > kMostRuleBytes) return str("is longer than ", kMostRuleBytes, " bytes");
  return keys_in(json) > kMostRuleKeys ? "has too many keys" : "";
}

}  // namespace hewn
