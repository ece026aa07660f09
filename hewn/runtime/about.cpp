#include "hewn/runtime/about.h"

#include <algorithm>

#include "hewn/core/rule_text.h"
#include "hewn/runtime/node_json.h"

namespace hewn::runtime {
namespace {

using Metadata = std::map<std::string, std::string>;

constexpr size_t kMaxText = size_t{1} << 20;         // bytes of one of these, as JSON
constexpr size_t kMaxClassesText = size_t{1} << 24;  // bytes
constexpr size_t kMaxClassName = 1024;               // bytes
constexpr int kFlat = 2;                             // levels: a list or an object, and what it holds
constexpr int kPreprocessingDepth = 8;

const std::string kNeeds = "hewn.needs";
const std::string kAbout = "hewn.about";
const std::string kPreprocessing = "hewn.preprocessing";
const std::string kClasses = "hewn.classes";

/// Null where the file does not have the key.
template <class AnyJson>
AnyJson parse(const Metadata& metadata, const std::string& key, int depth, size_t most_bytes = kMaxText) {
  const auto found = metadata.find(key);
  if (found == metadata.end()) return nullptr;
  if (found->second.size() > most_bytes) throw Error(str(key, " is longer than ", most_bytes, " bytes"));
  AnyJson json = parse_shallow<AnyJson>(found->second, depth);
  if (json.is_discarded()) throw Error(str(key, " is no JSON, or nests deeper than ", depth, " levels"));
  if (json.is_null()) throw Error(str(key, " is null"));
  return json;
}

std::vector<std::string> texts(const nlohmann::json& list, const std::string& key) {
  std::vector<std::string> out;
  if (list.is_null()) return out;
  if (!list.is_array()) throw Error(str(key, " is not a list"));
  for (const nlohmann::json& value : list) {
    if (!value.is_string()) throw Error(str(key, " holds something else than strings"));
    out.push_back(value.get<std::string>());
  }
  return out;
}

/// Programs print class names and look them up by the number of an output.
void check_classes(const std::vector<std::string>& classes, const Shape& output) {
  if (classes.empty()) return;
  const auto count = static_cast<int64_t>(classes.size());
  const bool yes_or_no = output.elements() == 1 && count == 2;
  if (count != output.channels && !yes_or_no) {
    throw Error(str(kClasses, " has ", count, " names for ", output.channels, " outputs"));
  }
  for (const std::string& name : classes) {
    const bool plain =
        std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < 32 || c == 127; });
    if (!plain || name.size() > kMaxClassName) {
      throw Error(str(kClasses, ": ", in_quotes(name), " is longer than ", kMaxClassName,
                      " bytes or has control characters"));
    }
  }
}

/// Names may come from anywhere: bytes that are not UTF-8 are replaced.
std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

void check_needs(const Metadata& metadata) {
  // So far nothing: what this version knows belongs to every file of version 2.
  const std::vector<std::string> needs = texts(parse<nlohmann::json>(metadata, kNeeds, kFlat), kNeeds);
  if (!needs.empty()) throw Error("needs what this version of hewn does not know: " + in_quotes(needs));
}

void read_about(const Metadata& metadata, const Shape& output, ModelData& model) {
  const auto about = parse<nlohmann::json>(metadata, kAbout, kFlat);
  if (!about.is_null() && !about.is_object()) throw Error(str(kAbout, " is not an object"));
  for (const auto& [key, value] : about.items()) {
    if (!value.is_string()) throw Error(str(kAbout, ": ", in_quotes(key), " is not a string"));
    std::string& place = key == "model" ? model.model : key == "method" ? model.method : model.metadata[key];
    place = value.get<std::string>();
  }
  const auto preprocessing = metadata.find(kPreprocessing);
  if (preprocessing != metadata.end()) {
    const std::string excess = excess_of_rule(preprocessing->second);
    if (!excess.empty()) throw Error(str(kPreprocessing, " ", excess));
    model.preprocessing = parse<Json>(metadata, kPreprocessing, kPreprocessingDepth, kMostRuleBytes);
    if (!model.preprocessing.is_object()) throw Error(str(kPreprocessing, " is not an object"));
  }
  model.classes = texts(parse<nlohmann::json>(metadata, kClasses, kFlat, kMaxClassesText), kClasses);
  check_classes(model.classes, output);
}

void write_about(const ModelData& model, const Shape& output, Metadata& metadata) {
  Json about = {{"model", model.model}, {"method", model.method}};
  for (const auto& [key, value] : model.metadata) {
    if (about.contains(key))
      throw Error(str("metadata: ", in_quotes(key), " is the name of a field of its own"));
    about[key] = value;
  }
  metadata[kAbout] = dump(about);
  if (!model.preprocessing.is_null()) metadata[kPreprocessing] = dump(model.preprocessing);
  if (!model.classes.empty()) metadata[kClasses] = dump(model.classes);
  ModelData back;
  read_about(metadata, output, back);
}

}  // namespace hewn::runtime
