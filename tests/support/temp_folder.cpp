#include "tests/support/temp_folder.h"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace hewn::test {

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "hewn-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  path_ = name;
}

// std::filesystem::remove_all crashes in programs that also load the LibTorch of a Python wheel: it brings
// parts of another libstdc++ along.
void remove_tree(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(std::filesystem::symlink_status(path))) {
    for (const auto& entry : std::filesystem::directory_iterator(path, ignored)) remove_tree(entry.path());
  }
  std::filesystem::remove(path, ignored);
}

TempFolder::~TempFolder() { remove_tree(path_); }

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace hewn::test
