#include "hewn/data/inputs/click_rule.h"

#include <cmath>
#include <limits>

#include "hewn/core/error.h"
#include "hewn/data/clicks/cache/cache_file.h"
#include "hewn/data/clicks/rows/buckets.h"
#include "hewn/data/clicks/rows/row_parser.h"

namespace hewn::data {
namespace {

// The parser has 16 bits for buckets.
constexpr size_t kMostCuts = std::numeric_limits<uint16_t>::max() - 1;

std::string values_name(size_t field) { return str(field, ".values"); }
std::string cuts_name(size_t field) { return str(field, ".cuts"); }

template <class T>
const std::vector<T>& array(const Arrays& arrays, const std::string& name) {
  const auto found = arrays.find(name);
  const auto* values = found == arrays.end() ? nullptr : std::get_if<std::vector<T>>(&found->second);
  if (values == nullptr) throw Error(str("has no good tensor \"preprocessing.", name, "\""));
  return *values;
}

std::vector<double> read_cuts(const Arrays& arrays, size_t field) {
  const auto& cuts = array<double>(arrays, cuts_name(field));
  bool good = cuts.size() <= kMostCuts;
  for (size_t i = 0; i < cuts.size() && good; ++i)
    good = std::isfinite(cuts[i]) && (i == 0 || cuts[i] > cuts[i - 1]);
  if (!good) throw Error(str("\"preprocessing.", cuts_name(field), "\": expected numbers that grow"));
  return cuts;
}

ValueMap read_vocabulary(const Arrays& arrays, size_t field, int64_t numbers) {
  const auto& values = array<int64_t>(arrays, values_name(field));
  const auto bad = [&](const std::string& what) {
    return Error(str("\"preprocessing.", values_name(field), "\": ", what));
  };
  if (static_cast<int64_t>(values.size()) != numbers - int64_t{kFirstNumber})
    throw bad(str("has ", values.size(), " values for a field of ", numbers, " numbers"));
  ValueMap map(values.size());
  uint32_t number = kFirstNumber;
  for (const int64_t signed_value : values) {
    const auto value = static_cast<uint64_t>(signed_value);
    uint32_t known = 0;
    if (value == kMissing) throw bad("holds the value that stands for a missing one");
    map.find(&value, 1, 0, &known);
    if (known != 0) throw bad("holds a value twice");
    map.insert(value, number++);
  }
  return map;
}

uint64_t read_hash_size(const Json& rule) {
  const auto found = rule.find("hash_size");
  if (found == rule.end()) return 0;
  if (!found->is_number_integer() || *found < 1 || *found > std::numeric_limits<int32_t>::max())
    throw Error("\"hash_size\": expected a whole number above 0");
  return found->get<uint64_t>();
}

}  // namespace

Preprocessing click_preprocessing(const CacheFile& cache) {
  Preprocessing out;
  out.classes = {"no click", "click"};
  const Json& key = cache.metadata().at("key");
  const Schema schema = schema_from_json(key.at("schema"));
  out.rule = {{"kind", "clicks"}};
  out.rule.update(schema.to_json());
  const auto hash_size = key.at("hash-size").get<int64_t>();
  if (hash_size > 0) out.rule["hash_size"] = hash_size;
  for (size_t f = 0; f < cache.fields().size(); ++f) {
    const CacheField& field = cache.fields()[f];
    if (field.numeric) {
      out.arrays[cuts_name(f)] = bucket_cuts(field.numbers);
    } else if (hash_size == 0) {
      std::vector<int64_t> values;
      for (const CountedValue& value : cache.vocabulary(f))
        values.push_back(static_cast<int64_t>(value.value));
      out.arrays[values_name(f)] = std::move(values);
    }
  }
  return out;
}

ClickRule click_rule(const Json& rule, const Arrays& arrays, const std::vector<int64_t>& vocabularies) {
  ClickRule out;
  out.schema = schema_from_json(rule);
  const std::vector<Column> columns = out.schema.fields();
  if (columns.size() != vocabularies.size()) {
    throw Error(
        str("has ", columns.size(), " fields for a model that takes ", vocabularies.size(), " of them"));
  }
  const uint64_t hash_size = read_hash_size(rule);
  size_t categorical = 0;
  for (size_t f = 0; f < columns.size(); ++f) {
    ClickField& field = out.fields.emplace_back();
    field.numeric = columns[f].role == Role::kNumeric;
    field.last = static_cast<uint32_t>(vocabularies[f] - 1);
    if (field.numeric) {
      field.cuts = read_cuts(arrays, f);
      continue;
    }
    field.hash_field = categorical++;
    field.hash_size = hash_size;
    if (hash_size == 0) {
      field.vocabulary = read_vocabulary(arrays, f, vocabularies[f]);
    } else if (static_cast<uint64_t>(vocabularies[f]) != hash_size + 1) {
      throw Error(str("\"hash_size\": is ", hash_size, " for a field of ", vocabularies[f], " numbers"));
    }
  }
  return out;
}

}  // namespace hewn::data
