#include "hewn/runtime/node_json.h"

#include "hewn/runtime/op/operator.h"

namespace hewn::runtime {
namespace {

constexpr size_t kLongestName = 100;  // in messages
constexpr size_t kMostNames = 32;     // likewise

}  // namespace

std::string in_quotes(std::string_view name) {
  const bool cut = name.size() > kLongestName;
  const Json json = std::string(name.substr(0, kLongestName)) + (cut ? "..." : "");
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);  // a cut may split a character
}

std::string in_quotes(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    out += (i == 0 ? "" : ", ") + in_quotes(names[i]);
  }
  return names.size() > kMostNames ? out + str(" and ", names.size() - kMostNames, " more") : out;
}

ObjectReader::ObjectReader(const nlohmann::json& json, std::string what)
    : json_(json), what_(std::move(what)) {
  if (!json.is_object()) throw bad("is not an object");
}

const nlohmann::json* ObjectReader::find(std::string_view key) const {
  asked_.push_back(key);
  const auto found = json_.find(key);
  return found == json_.end() ? nullptr : &*found;
}

const nlohmann::json& ObjectReader::at(std::string_view key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) throw bad(str("has no \"", key, "\""));
  return *value;
}

const nlohmann::json& ObjectReader::list(std::string_view key) const {
  const nlohmann::json& value = at(key);
  if (!value.is_array()) throw bad(str("\"", key, "\" is not a list"));
  return value;
}

std::string ObjectReader::text(std::string_view key) const {
  const nlohmann::json& value = at(key);
  if (!value.is_string()) throw bad(str("\"", key, "\" is not a string"));
  return value.get<std::string>();
}

int64_t ObjectReader::size(const nlohmann::json& value, std::string_view key, int64_t least,
                           int64_t most) const {
  if (!value.is_number_integer()) throw bad(str("\"", key, "\" is not a whole number"));
  const bool huge = value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(most);
  if (huge || value.get<int64_t>() < least || value.get<int64_t>() > most) {
    throw bad(str("\"", key, "\" is outside ", least, " to ", most));
  }
  return value.get<int64_t>();
}

int64_t ObjectReader::size(std::string_view key, int64_t least, int64_t most) const {
  return size(at(key), key, least, most);
}

std::vector<int64_t> ObjectReader::sizes(std::string_view key, int64_t least, int64_t most) const {
  std::vector<int64_t> out;
  for (const nlohmann::json& value : list(key)) out.push_back(size(value, key, least, most));
  return out;
}

void ObjectReader::expect_no_more() const {
  for (const auto& [key, value] : json_.items()) {
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    throw bad(str("has ", in_quotes(key), ", which this version of hewn does not know"));
  }
}

void read_attributes(const ObjectReader& reader, Node& node) {
  const Operator& op = operator_of(node.op);
  if (op.tensors != Tensors::kNone) node.name = reader.text("name");
  if (op.read != nullptr) op.read(reader, node);
}

void write_attributes(const Node& node, Json& json) {
  const Operator& op = operator_of(node.op);
  if (op.tensors != Tensors::kNone) json["name"] = node.name;
  if (op.write != nullptr) op.write(node, json);
}

}  // namespace hewn::runtime
