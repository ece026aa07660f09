#include "hewn/data/clicks/text/source_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <string_view>

#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/data/clicks/text/chunks.h"
#include "hewn/data/clicks/text/text_stream.h"
#include "hewn/data/plumbing/hash.h"

namespace hewn::data {
namespace {

namespace fs = std::filesystem;

bool is_log(std::string name) {
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.resize(name.size() - packed.size());
  }
  for (const std::string_view pattern : {"*.tsv", "*.txt", "*.csv", "day_*"}) {
    if (matches(pattern, name)) return true;
  }
  return false;
}

/// day_2 comes before day_10.
bool in_order(const fs::path& left, const fs::path& right) {
  const std::string a = left.filename().string();
  const std::string b = right.filename().string();
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      const auto number = [&](const std::string& text, size_t& at) {
        const size_t begin = std::min(text.find_first_not_of('0', at), text.size());
        for (at = begin; at < text.size() && digit(text[at]);) ++at;
        return text.substr(begin, at - begin);
      };
      const std::string x = number(a, i);
      const std::string y = number(b, j);
      if (x != y) return x.size() != y.size() ? x.size() < y.size() : x < y;
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  return a.size() - i != b.size() - j ? a.size() - i < b.size() - j : a < b;
}

std::vector<std::string> separate(const std::string& list) {
  std::error_code ignored;
  if (fs::exists(list, ignored)) return {list};
  std::vector<std::string> out;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    out.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

}  // namespace

Json SourceFile::to_json() const {
  return {{"name", valid_utf8(path.filename().string())}, {"bytes", size}, {"modified", modified}};
}

SourceFile look_at(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw Error(str(path.string(), ": no such file"));
  }
  constexpr int64_t kSecond = 1'000'000'000;
  return {path, status.st_size, status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec};
}

std::vector<SourceFile> find_files(const std::string& format, const std::string& path) {
  if (path.empty()) throw Error(str("data ", format, ": give data as ", format, ":PATH, a file or a folder"));
  std::vector<SourceFile> out;
  for (const std::string& word : separate(path)) {
    if (!fs::is_directory(word)) {
      if (!fs::is_regular_file(word)) throw Error(str("data ", format, ": no file or folder \"", word, "\""));
      out.push_back(look_at(word));
      continue;
    }
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(word)) {
      if (entry.is_regular_file() && is_log(entry.path().filename().string())) found.push_back(entry.path());
    }
    if (found.empty()) {
      throw Error(
          str("data ", format, ": no *.tsv, *.txt, *.csv or day_* file (.gz, .zst) in the folder ", word));
    }
    std::sort(found.begin(), found.end(), in_order);
    for (const fs::path& file : found) out.push_back(look_at(file));
  }
  return out;
}

CachePaths cache_paths(const std::string& format, const std::string& path, const std::string& cache_folder) {
  CachePaths paths;
  std::string identity = format;
  const std::vector<std::string> words = separate(path);
  for (const std::string& word : words) {
    // Beside the data a name is enough, and the cache stays valid when its folder moves.
    fs::path given = fs::absolute(word).lexically_normal();
    if (!given.has_filename()) given = given.parent_path();
    identity += str("\n", (cache_folder.empty() ? given.filename() : given).string());
    if (paths.folder.empty()) {
      paths.folder =
          fs::is_directory(given) ? given / ".hewn-cache" : fs::path(str(given.string(), ".hewn-cache"));
    }
  }
  if (!cache_folder.empty()) paths.folder = cache_folder;
  std::array<char, 32> hash{};
  std::snprintf(hash.data(), hash.size(), "%08x", static_cast<unsigned>(hash_text(identity)));
  const std::string stem = (paths.folder / str(format, "-", hash.data())).string();
  paths.file = str(stem, ".clicks");
  paths.building = str(stem, ".building");
  paths.lock = str(stem, ".lock");
  return paths;
}

std::string first_line(const fs::path& path) {
  std::string line(kLongestLine, '\0');
  line.resize(open_text(path)->read(line.data(), line.size()));
  line.resize(std::min(line.find('\n'), line.size()));
  return line;
}

}  // namespace hewn::data
