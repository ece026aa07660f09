#pragma once

#include <cstdint>
#include <vector>

#include "hewn/core/preprocessing.h"
#include "hewn/data/clicks/numbers/value_map.h"
#include "hewn/data/clicks/rows/schema.h"

namespace hewn::data {

class CacheFile;

/// How the values of one field of a click log become numbers.
struct ClickField {
  bool numeric = false;
  uint32_t last = 0;         // number that is allowed
  std::vector<double> cuts;  // numeric: as bucket_cuts makes them
  ValueMap vocabulary;       // categorical: numbers of values, unless they are hashed
  uint64_t hash_size = 0;
  size_t hash_field = 0;  // which categorical field it is
};

/// How the rows of a click log become inputs: what its columns are, and numbers for the values of each field.
struct ClickRule {
  Schema schema;
  std::vector<ClickField> fields;  // in the order of the schema's
};

/// What a model that was trained on the cache needs for new rows.
Preprocessing click_preprocessing(const CacheFile& cache);

/// The rule and the arrays that click_preprocessing made, from a file that may be hostile. `vocabularies` are
/// those of the model. Throws Error.
ClickRule click_rule(const Json& rule, const Arrays& arrays, const std::vector<int64_t>& vocabularies);

}  // namespace hewn::data
