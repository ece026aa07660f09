#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/core/error.h"
#include "hewn/core/json.h"
#include "hewn/runtime/graph.h"

namespace hewn::runtime {

// Keeps products of a few sizes far from overflow.
constexpr int64_t kMaxSize = int64_t{1} << 24;
constexpr int64_t kMaxKernel = int64_t{1} << 12;
// Planning may take time that grows with the square of the nodes.
constexpr size_t kMaxNodes = size_t{1} << 14;

/// A name from a file, fit for a message: as JSON it stays on one line, and a long one is cut.
std::string in_quotes(std::string_view name);
/// Several of them; of very many the first.
std::string in_quotes(const std::vector<std::string>& names);

/// Reads the keys of one JSON object; every error begins with `what`. Knows which keys were asked for.
class ObjectReader {
 public:
  ObjectReader(const nlohmann::json& json, std::string what);

  Error bad(const std::string& problem) const { return Error(what_ + ": " + problem); }

  /// Null where the key is missing.
  const nlohmann::json* find(std::string_view key) const;
  const nlohmann::json& at(std::string_view key) const;
  const nlohmann::json& list(std::string_view key) const;
  std::string text(std::string_view key) const;
  int64_t size(std::string_view key, int64_t least, int64_t most = kMaxSize) const;
  /// One element of the key's list.
  int64_t size(const nlohmann::json& value, std::string_view key, int64_t least, int64_t most) const;
  std::vector<int64_t> sizes(std::string_view key, int64_t least, int64_t most = kMaxSize) const;
  template <size_t kCount>
  std::array<int64_t, kCount> tuple(std::string_view key, int64_t least, int64_t most = kMaxSize) const {
    const std::vector<int64_t> values = sizes(key, least, most);
    if (values.size() != kCount) throw bad(str("\"", key, "\" is not ", kCount, " numbers"));
    std::array<int64_t, kCount> out{};
    std::copy(values.begin(), values.end(), out.begin());
    return out;
  }
  /// Throws where the object has a key that nobody asked for: what is not understood may change the result.
  void expect_no_more() const;

 private:
  const nlohmann::json& json_;
  std::string what_;
  mutable std::vector<std::string_view> asked_;
};

/// What both versions say alike of a node, all but its edges and, of a layer, its number of outputs.
void read_attributes(const ObjectReader& reader, Node& node);
void write_attributes(const Node& node, Json& json);

}  // namespace hewn::runtime
