#include "hewn/train/execution/machine_cache.h"

#include <torch/version.h>

#include <cstdlib>
#include <fstream>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/version.h"

namespace hewn::train {
namespace {

std::filesystem::path cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != 0) {
    return std::filesystem::path(cache) / "hewn";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != 0) {
    return std::filesystem::path(home) / ".cache" / "hewn";
  }
  return {};
}

}  // namespace

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  }
  return "unknown processor";
}

MachineCache::MachineCache(const std::string& name) {
  const std::filesystem::path folder = cache_folder();
  if (!folder.empty()) path_ = folder / (name + ".json");
  entries_ = read();
}

/// All entries of this processor and these versions; none where the file is missing or damaged.
Json MachineCache::read() const {
  std::error_code ignored;
  if (path_.empty() || !std::filesystem::exists(path_, ignored)) return Json::object();
  try {
    Json all = Json::parse(read_file(path_), nullptr, false);
    return all.is_object() ? all : Json::object();
  } catch (const Error&) {
    return Json::object();
  }
}

Json MachineCache::find_or(const std::string& key, const std::function<Json()>& measure) {
  const std::string full =
      str(processor_name(), "; hewn ", kVersion, "; LibTorch ", TORCH_VERSION, "; ", key);
  if (!entries_.contains(full) || !entries_[full].is_object()) {
    entries_[full] = measure();
    fresh_[full] = entries_[full];
  }
  return entries_[full];
}

std::string MachineCache::save() {
  if (fresh_.empty()) return "measured earlier";
  if (path_.empty()) return "measured now, not kept: there is no home folder";
  try {
    make_writable_folder(path_.parent_path());
    const FileLock lock(path_.string() + ".lock", FileLock::WhenHeld::kWait);
    Json all = read();
    for (const auto& [key, value] : fresh_.items()) {
      if (!all.contains(key)) all[key] = value;
    }
    write_file_atomically(path_, all.dump(1) + "\n");
  } catch (const Error& error) {
    return str("measured now, not kept: ", error.what());
  }
  return "measured now";
}

}  // namespace hewn::train
