#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hewn {

/// How the name of a file to write ends, which is its format. Throws Error, naming the option and all `known`
/// suffixes, where it is another.
std::string known_suffix(const std::string& option, const std::filesystem::path& file,
                         const std::vector<std::string>& known);

}  // namespace hewn
