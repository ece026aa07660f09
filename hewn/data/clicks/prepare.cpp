#include "hewn/data/clicks/prepare.h"

#include <chrono>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/data/clicks/cache/cache_file.h"

namespace hewn::data {
namespace {

Schema schema_for(const PrepareRequest& request, const std::vector<SourceFile>& files) {
  const std::string& path = request.options.schema;
  if (request.format == "criteo") {
    if (!path.empty()) throw Error("schema: criteo has its own columns; use ctr-csv for others");
    return criteo_schema();
  }
  if (path.empty())
    throw Error("data ctr-csv: give a schema, a file which describes the columns (docs/data.md)");
  const SchemaFile file = parse_schema(read_file(path), path);
  const std::string header = file.header ? first_line(files[0].path) : "";
  for (const SourceFile& other : files) {
    if (file.header && first_line(other.path) != header) {
      throw FormatError(other.path.string(), str("its header differs from that of ", files[0].path.string()));
    }
  }
  return resolve(file, header, files[0].path.string());
}

Json make_key(const PrepareRequest& request, const Schema& schema, const std::vector<SourceFile>& files) {
  const ClickOptions& options = request.options;
  Json names = Json::array();
  for (const SourceFile& file : files) names.push_back(file.to_json());
  return {{"schema", schema.to_json()},       {"min-count", options.min_count},
          {"hash-size", options.hash_size},   {"split", options.split},
          {"test-share", options.test_share}, {"validation-share", options.validation_share},
          {"chunk", request.chunk},           {"sources", names}};
}

/// "" where the cache fits; else why it does not.
std::string difference(const Json& metadata, const Json& key) {
  if (metadata.is_null()) return "was made by another version of hewn";
  if (!metadata.contains("key") || !metadata["key"].is_object()) return "does not say what it was made from";
  const Json& old = metadata["key"];
  for (const auto& [name, value] : key.items()) {
    if (old.contains(name) && old[name] == value) continue;
    if (name == "sources") return "was made from other files, or they have changed";
    if (name == "schema") return "was made with another schema";
    return str("was made with ", name, " ", old.contains(name) ? old[name].dump() : "unknown", ", not ",
               value.dump());
  }
  return "";
}

void check_tolerance(const Json& metadata, const std::string& path, double share) {
  const Json first = metadata.value("first_bad_rows", Json::array());
  const bool known = first.is_array() && !first.empty() && first[0].is_string();
  check_bad_rows(metadata["rows"].get<uint64_t>(), metadata["bad_rows"].get<uint64_t>(), share,
                 known ? first[0].get<std::string>() : path);
}

bool fits(const CacheBuild& build, const std::function<void(const std::string&)>& say) {
  const std::filesystem::path& path = build.paths.file;
  if (!is_there(path)) return false;
  const Json metadata = cache_metadata(path);
  const std::string why = difference(metadata, build.key);
  if (why.empty()) check_tolerance(metadata, path.string(), build.request.options.bad_rows);
  if (!why.empty() && say) say(str("the cache ", path.string(), " ", why, "; building it anew"));
  return why.empty();
}

}  // namespace

void check_bad_rows(uint64_t rows, uint64_t bad, double share, const std::string& first) {
  if (static_cast<double>(bad) <= share * static_cast<double>(rows + bad)) return;
  throw Error(
      str(first, "; ", bad, " of ", rows + bad, " rows are malformed, bad-rows allows a share of ", share));
}

Prepared prepare_clicks(const PrepareRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  check(request.options);
  CacheBuild build;
  build.request = request;
  build.files = find_files(request.format, request.path);
  if (request.options.split == "day" && build.files.size() < 2) {
    throw Error("split: day needs a file for each day, at least 2; there is one (use split hash)");
  }
  build.schema = schema_for(request, build.files);
  build.paths = cache_paths(request.format, request.path, request.options.cache);
  build.key = make_key(request, build.schema, build.files);
  Prepared out{build.paths.file};
  if (!fits(build, request.on_message)) {
    try {
      make_writable_folder(build.paths.folder);
    } catch (const Error& error) {
      throw Error(str(error.what(), "; choose another folder for the cache"));
    }
    if (is_locked(build.paths.lock) && request.on_message) {
      request.on_message(str(build.paths.file.string(), ": another process makes it; waiting for that"));
    }
    const FileLock lock(build.paths.lock, FileLock::WhenHeld::kWait);
    // Another process may have built it in the meantime.
    if (!fits(build, nullptr)) {
      build_cache(build);
      out.built = true;
    }
  }
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return out;
}

}  // namespace hewn::data
