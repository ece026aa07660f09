#pragma once

#include <filesystem>
#include <string>

namespace hewn::test {

/// A folder that is removed with everything in it.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Removes a file, or a folder with everything in it.
void remove_tree(const std::filesystem::path& path);

void write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace hewn::test
