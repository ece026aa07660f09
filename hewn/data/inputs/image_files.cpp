#include "hewn/data/inputs/image_files.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <vector>

#include "hewn/core/error.h"

namespace hewn::data {
namespace {

bool can_be_decoded(const std::filesystem::path& path) {
  std::array<char, 4> bytes{};
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), bytes.size());
  const std::string_view start(bytes.data(), static_cast<size_t>(file.gcount()));
  return start == "\x89PNG" || start.starts_with("\xff\xd8\xff");
}

bool is_hidden(const std::filesystem::path& path) { return path.filename().native().starts_with('.'); }

}  // namespace

ImageFiles find_images(const std::filesystem::path& folder) {
  ImageFiles out;
  std::error_code problem;
  // Links to folders are followed as in training, but not back to where they come from.
  std::vector<std::filesystem::path> inside = {std::filesystem::canonical(folder, problem)};
  std::filesystem::recursive_directory_iterator at;
  if (!problem) at = {folder, std::filesystem::directory_options::follow_directory_symlink, problem};
  while (!problem && at != std::filesystem::recursive_directory_iterator()) {
    std::error_code unknown;
    if (at->is_directory(unknown)) {
      inside.resize(static_cast<size_t>(at.depth()) + 1);
      const std::filesystem::path real = std::filesystem::canonical(at->path(), unknown);
      const bool back = std::find(inside.begin(), inside.end(), real) != inside.end();
      const bool hidden = is_hidden(at->path());
      if (back && !hidden) out.others.push_back(at->path());
      if (back || hidden) at.disable_recursion_pending();
      inside.push_back(real);
    } else if (!is_hidden(at->path())) {
      const bool image = at->is_regular_file(unknown) && can_be_decoded(at->path());
      (image ? out.images : out.others).push_back(at->path());
    }
    at.increment(problem);
  }
  if (problem) throw Error(str(folder.string(), ": cannot be read: ", problem.message()));
  std::sort(out.images.begin(), out.images.end());
  std::sort(out.others.begin(), out.others.end());
  return out;
}

}  // namespace hewn::data
