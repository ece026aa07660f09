#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hewn/data/clicks/cache/cache_file.h"
#include "hewn/data/clicks/cache/split.h"
#include "hewn/data/clicks/numbers/numbering.h"
#include "hewn/data/clicks/rows/schema.h"

namespace hewn::data {

/// What a cache is made of, once every value has a number.
struct CacheContent {
  const Schema& schema;
  const std::filesystem::path& spool;
  const std::vector<SpooledGroup>& groups;
  const Numbering& numbering;
  const Split& split;
  Json metadata;  // `fields` is added
};

/// Writes the file and syncs it; it is not yet under its final name.
void write_cache(const std::filesystem::path& path, const CacheContent& content, size_t threads,
                 const std::function<void(int64_t bytes, int64_t total)>& progress);

}  // namespace hewn::data
