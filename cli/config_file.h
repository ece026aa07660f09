#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cli/command.h"

namespace hewn::cli {

/// What a --config file says: option -> text, and the line that says it.
struct ConfigFile {
  Given values;
  std::map<std::string, int64_t> lines;
};

/// Reads `key = value` lines with the reader of sweep files, in no section or in one named after the command.
/// Throws Error with path and line for whatever the command would not take.
ConfigFile read_config_file(const std::string& path, const Command& command);

}  // namespace hewn::cli
