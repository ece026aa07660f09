// A file includes only from its own layer or from those named for it here.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace hewn {
namespace {

const std::map<std::string, std::set<std::string>> kMayInclude = {
    {"core", {}},
    {"io", {"core"}},
    {"convex", {"core", "io"}},
    {"kernels", {"core"}},
    {"runtime", {"core", "io", "kernels"}},
    {"measure", {"core", "kernels", "runtime"}},
    {"tensor", {"core", "io", "kernels"}},
    {"prune", {"core", "kernels", "tensor"}},
    {"nn", {"core", "kernels", "tensor", "prune", "runtime"}},
    {"data", {"core", "kernels", "tensor"}},
    {"dist", {"core"}},
    {"facade", {"core", "io", "kernels", "tensor", "prune", "nn", "runtime"}},
    {"results", {"core"}},
    {"sweep", {"core", "results"}},
    {"train",
     {"core", "facade", "tensor", "convex", "dist", "io", "kernels", "measure", "prune", "nn", "data",
      "runtime"}},
    {"report",
     {"core", "facade", "tensor", "io", "kernels", "measure", "prune", "nn", "runtime", "train", "results"}},
};
// Layers that know nothing of LibTorch.
const std::set<std::string> kWithoutTorch = {"core",    "convex",  "io",   "kernels",
                                             "results", "runtime", "sweep"};

// Click logs and image files are read without LibTorch, up to the one file that makes tensors of them.
TEST(Layering, FilesAreReadWithoutLibTorch) {
  const std::filesystem::path data = std::filesystem::path(HEWN_SOURCE_DIR) / "hewn/data";
  const std::regex torch("#include (<(torch|ATen|c10)/|\"hewn/data/(source|images)\\.h\"|.*torch_compat)");
  for (const auto& [folder, tensors] :
       {std::pair("clicks", "click_source.cpp"), std::pair("folders", "image_folder.cpp")}) {
    int with_torch = 0;
    for (const auto& entry : std::filesystem::directory_iterator(data / folder)) {
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) {
        if (!std::regex_search(line, torch)) continue;
        EXPECT_EQ(entry.path().filename(), tensors) << line;
        ++with_torch;
      }
    }
    EXPECT_GT(with_torch, 0);
  }
}

TEST(Layering, IncludesPointUpwardsOnly) {
  const std::filesystem::path root = std::filesystem::path(HEWN_SOURCE_DIR) / "hewn";
  const std::regex ours("#include \"hewn/(?:([a-z]+)/[^\"]*|[a-z_]+\\.h)\"");
  const std::regex torch("#include <(torch|ATen|c10)/[^>]*>");
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    // Files beside the folders are the facade.
    const std::filesystem::path place = std::filesystem::relative(entry.path(), root);
    const std::string layer = place.has_parent_path() ? place.begin()->string() : "facade";
    if (!entry.is_regular_file() || name == "CMakeLists.txt" || name == "hewn.h") continue;
    ASSERT_TRUE(kMayInclude.contains(layer)) << "hewn/" << layer << " is missing in this test's table";
    ++files;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      std::smatch match;
      if (std::regex_search(line, match, ours)) {
        const std::string from = match[1].matched ? match[1].str() : "facade";
        EXPECT_TRUE(from == layer || kMayInclude.at(layer).contains(from)) << entry.path() << ": " << line;
      }
      EXPECT_FALSE(kWithoutTorch.contains(layer) && std::regex_search(line, torch))
          << entry.path() << ": " << line;
    }
  }
  EXPECT_GT(files, 50);
}

}  // namespace
}  // namespace hewn
