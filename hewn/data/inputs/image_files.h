#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace hewn::data {

/// What a folder holds, at any depth, in the order of the paths. Hidden files and folders do not count.
struct ImageFiles {
  std::vector<std::filesystem::path> images;  // JPEG and PNG, told by their first bytes
  std::vector<std::filesystem::path> others;
};

/// Throws Error where a folder cannot be read.
ImageFiles find_images(const std::filesystem::path& folder);

}  // namespace hewn::data
