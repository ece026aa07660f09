#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "hewn/core/json.h"

namespace hewn::train {

/// Measurements that belong to this machine, in $XDG_CACHE_HOME/hewn or ~/.cache/hewn. What is written there
/// first stays, so that later runs see the same numbers. Without a writable folder everything is measured
/// anew.
class MachineCache {
 public:
  explicit MachineCache(const std::string& name);

  /// The entry of that key, measured now where there is none.
  Json find_or(const std::string& key, const std::function<Json()>& measure);

  /// Writes new entries, keeping those that another process wrote meanwhile. Says what was done.
  std::string save();

 private:
  Json read() const;

  std::filesystem::path path_;  // empty: no folder
  Json entries_;
  Json fresh_ = Json::object();
};

/// The processor's name, as the operating system gives it.
std::string processor_name();

}  // namespace hewn::train
