#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "hewn/core/error.h"
#include "hewn/core/json.h"

namespace hewn::run {

/// The fields of a JSON object out of a file, each checked as it is read. Throws FormatError with the file
/// and the key for one that is missing, of another kind, or out of range.
class Fields {
 public:
  /// `what` it should be: "a run's summary".
  Fields(const Json& json, std::string where, std::string what)
      : json_(json), where_(std::move(where)), what_(std::move(what)) {
    if (!json.is_object()) throw FormatError(where_, str("is not ", what_));
  }

  bool has(const char* key) const {
    const auto found = json_.find(key);
    return found != json_.end() && !found->is_null();
  }
  const Json& at(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) reject(key, "is missing");
    return *found;
  }
  std::string text(const char* key) const {
    const Json& value = at(key);
    if (!value.is_string()) reject(key, "is of another kind");
    return value.get<std::string>();
  }
  bool flag(const char* key) const {
    const Json& value = at(key);
    if (!value.is_boolean()) reject(key, "is of another kind");
    return value.get<bool>();
  }
  double number(const char* key) const {
    const Json& value = at(key);
    if (!value.is_number()) reject(key, "is of another kind");
    const auto out = value.get<double>();
    if (!std::isfinite(out)) reject(key, "is not finite");
    return out;
  }
  int64_t whole(const char* key, int64_t least = std::numeric_limits<int64_t>::min(),
                int64_t most = std::numeric_limits<int64_t>::max()) const {
    return whole(at(key), key, least, most);
  }
  std::vector<int64_t> wholes(const char* key, int64_t least, int64_t most) const {
    const Json& value = at(key);
    if (!value.is_array()) reject(key, "is of another kind");
    std::vector<int64_t> out;
    for (const Json& one : value) out.push_back(whole(one, key, least, most));
    return out;
  }
  [[noreturn]] void reject(const char* key, const std::string& why) const {
    throw FormatError(where_, str("is not ", what_, ": \"", key, "\" ", why));
  }

 private:
  int64_t whole(const Json& value, const char* key, int64_t least, int64_t most) const {
    if (!value.is_number_integer()) reject(key, "is of another kind");
    const bool huge = value.is_number_unsigned() &&
                      value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    const int64_t out = huge ? 0 : value.get<int64_t>();
    if (huge || out < least || out > most) reject(key, str("is ", value.dump(), ", out of range"));
    return out;
  }

  const Json& json_;
  std::string where_;
  std::string what_;
};

}  // namespace hewn::run
