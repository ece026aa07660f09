#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hewn/core/json.h"

namespace hewn::data {

struct SourceFile {
  std::filesystem::path path;
  int64_t size = 0;
  int64_t modified = 0;  // nanoseconds since 1970

  Json to_json() const;
};

/// The files that a PATH means: a file; a folder, of which all *.tsv, *.txt, *.csv and day_* (also with .gz
/// or .zst) count in the order of their names, numbers in them by their size; or several with commas between.
std::vector<SourceFile> find_files(const std::string& format, const std::string& path);

/// A file as it is now.
SourceFile look_at(const std::filesystem::path& path);

/// Where the cache of a PATH belongs.
struct CachePaths {
  std::filesystem::path folder;
  std::filesystem::path file;
  std::filesystem::path building;  // folder of what is needed while it is built
  std::filesystem::path lock;
};
CachePaths cache_paths(const std::string& format, const std::string& path, const std::string& cache_folder);

/// The first line of a text file, without its newline.
std::string first_line(const std::filesystem::path& path);

}  // namespace hewn::data
