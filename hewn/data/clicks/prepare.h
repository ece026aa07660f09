#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hewn/data/clicks/options.h"
#include "hewn/data/clicks/rows/schema.h"
#include "hewn/data/clicks/text/source_files.h"
#include "hewn/data/plumbing/preparation.h"

namespace hewn::data {

struct PrepareRequest {
  std::string format;  // criteo or ctr-csv
  std::string path;
  ClickOptions options = {};
  size_t threads = 0;              // 0: as many as there are processors
  size_t chunk = size_t{8} << 20;  // bytes of text that are parsed at a time
  std::function<void(const Preparation&)> on_preparation = {};
  std::function<void(const std::string&)> on_message = {};
};

struct Prepared {
  std::filesystem::path cache;
  bool built = false;  // now, not before
  double seconds = 0;
};

/// Makes sure that there is a cache for these files and options: builds it in one pass over the text, goes on
/// with a build that was stopped, or finds it as it is.
Prepared prepare_clicks(const PrepareRequest& request);

/// Everything that building a cache needs to know.
struct CacheBuild {
  PrepareRequest request;
  Schema schema;
  std::vector<SourceFile> files;
  CachePaths paths;
  Json key;  // what decides whether a cache still fits
};

/// Builds the cache under its final name; the caller holds the lock.
void build_cache(const CacheBuild& build);

/// Throws Error, naming the first one, where malformed rows are more than their tolerated share.
void check_bad_rows(uint64_t rows, uint64_t bad, double share, const std::string& first);

}  // namespace hewn::data
