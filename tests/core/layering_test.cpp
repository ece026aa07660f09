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
    {"flow", {"core", "io", "kernels"}},
    {"runtime", {"core", "io", "kernels", "flow"}},
    {"onnx", {"core", "io", "flow"}},
    {"refit", {"core", "io", "convex", "flow", "prune"}},
    {"measure", {"core", "kernels", "flow", "runtime"}},
    {"tensor", {"core", "io", "kernels"}},
    {"prune", {"core", "kernels", "tensor"}},
    {"nn", {"core", "flow", "kernels", "tensor", "prune", "runtime"}},
    {"data", {"core", "io", "convex", "kernels", "tensor"}},
    {"dist", {"core"}},
    {"facade", {"core", "io", "kernels", "tensor", "prune", "nn", "runtime"}},
    {"results", {"core"}},
    {"sweep", {"core", "results"}},
    {"run", {"core", "facade", "prune", "nn", "data", "io"}},
    {"train",
     {"core", "facade", "tensor", "dist", "io", "kernels", "measure", "prune", "nn", "data", "run",
      "runtime"}},
    {"deploy",
     {"core", "facade", "tensor", "convex", "dist", "flow", "io", "kernels", "measure", "onnx", "prune", "nn",
      "data", "run", "runtime", "train"}},
    {"report",
     {"core", "facade", "tensor", "io", "kernels", "measure", "prune", "nn", "run", "runtime", "train",
      "deploy", "results"}},
};
// Layers that know nothing of LibTorch.
const std::set<std::string> kWithoutTorch = {"core",  "convex",  "flow", "io",      "kernels", "onnx",
                                             "refit", "results", "run",  "runtime", "sweep"};

// Click logs and image files are read without LibTorch, up to the one file that makes tensors of them.
TEST(Layering, FilesAreReadWithoutLibTorch) {
  const std::filesystem::path data = std::filesystem::path(HEWN_SOURCE_DIR) / "hewn/data";
  const std::regex torch("#include (<(torch|ATen|c10)/|\"hewn/data/(source|images)\\.h\"|.*torch_compat)");
  const std::map<std::string, std::string> makes_tensors = {{"clicks", "batches/click_source.cpp"},
                                                            {"folders", "image_folder.cpp"},
                                                            {"plumbing", ""},
                                                            {"synthetic/cuda", ""},
                                                            {"synthetic/reference", ""},
                                                            {"tables", "table_source.cpp"},
                                                            {"text", "text_source.cpp"}};
  for (const auto& [folder, tensors] : makes_tensors) {
    int files = 0;
    int with_torch = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(data / folder)) {
      if (!entry.is_regular_file()) continue;
      ++files;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) {
        if (!std::regex_search(line, torch)) continue;
        EXPECT_EQ(std::filesystem::relative(entry.path(), data / folder), tensors) << line;
        ++with_torch;
      }
    }
    EXPECT_GT(files, 0) << folder;
    EXPECT_EQ(with_torch > 0, !tensors.empty()) << folder;
  }
}

/// The first of LibTorch's headers that a file reaches through ours; "" where there is none.
std::string torch_behind(const std::string& file, std::map<std::string, std::string>& known) {
  static const std::regex kInclude("^#include (?:<((?:torch|ATen|c10)/[^>]*)>|\"((?:hewn|cli)/[^\"]*)\")");
  const auto [found, fresh] = known.try_emplace(file);
  if (!fresh) return found->second;
  std::ifstream in(std::filesystem::path(HEWN_SOURCE_DIR) / file);
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (line.empty() || line.front() != '#' || !std::regex_search(line, match, kInclude)) continue;
    const std::string behind = match[1].matched ? match[1].str() : torch_behind(match[2], known);
    if (!behind.empty()) return known[file] = file + " -> " + behind;
  }
  return "";
}

TEST(Layering, LayersWithoutLibTorchDoNotReachItThroughOthers) {
  std::map<std::string, std::string> known;
  for (const std::string& layer : kWithoutTorch) {
    const std::filesystem::path root = std::filesystem::path(HEWN_SOURCE_DIR) / "hewn" / layer;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (!entry.is_regular_file()) continue;
      EXPECT_EQ(torch_behind(std::filesystem::relative(entry.path(), HEWN_SOURCE_DIR).string(), known), "");
    }
  }
  EXPECT_NE(torch_behind("hewn/train/job.h", known), "");
}

// hewn itself starts without LibTorch: what needs it is in cli/torch, which becomes hewn-torch.
TEST(Layering, TheCommandLineReachesLibTorchOnlyInItsFolder) {
  const std::filesystem::path root = std::filesystem::path(HEWN_SOURCE_DIR) / "cli";
  std::map<std::string, std::string> known;
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string file = std::filesystem::relative(entry.path(), HEWN_SOURCE_DIR).string();
    if (!entry.is_regular_file() || file.starts_with("cli/torch/")) continue;
    ++files;
    EXPECT_EQ(torch_behind(file, known), "");
  }
  EXPECT_GT(files, 30);
  EXPECT_NE(torch_behind("cli/torch/train.cpp", known), "");
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
