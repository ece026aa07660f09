#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "hewn/core/json.h"

namespace hewn {

/// Numbers that are too many for JSON, by name.
using Arrays = std::map<std::string, std::variant<std::vector<int64_t>, std::vector<double>>>;

/// How raw data become a model's inputs, and what its outputs are called: what a model file carries so that
/// new data can be predicted. docs/formats.md describes the rules.
struct Preprocessing {
  std::vector<std::string> classes;  // names of the outputs, or of no and yes where there is one; may be none
  Json rule;                         // an object with "kind"; null: there is no way from raw data to inputs
  Arrays arrays;                     // what the rule needs beside it
};

/// A class name from outside, as a Preprocessing may hold it: valid UTF-8 in one line.
inline std::string plain_class_name(std::string name) {
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 32 || byte == 127) c = '?';
  }
  return valid_utf8(name);
}

}  // namespace hewn
