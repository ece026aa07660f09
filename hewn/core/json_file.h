#pragma once

#include <filesystem>

#include "hewn/core/json.h"

namespace hewn {

/// Indented, and all of it or nothing.
void write_json(const std::filesystem::path& path, const Json& json);
/// Throws FormatError where the file is not JSON.
Json read_json(const std::filesystem::path& path);

}  // namespace hewn
