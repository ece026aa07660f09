// One file, several sizes: what each says, and what is said about one that is not there.
#include "hewn/sweep/sizes.h"

#include <gtest/gtest.h>

#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::sweep {
namespace {

constexpr const char* kTable = R"([train]
epochs = 3
[axes]
drop = ["mask", "zero"]
block = [4]
[size.full]
base = "sizes/full.toml"
[size.small.train]
epochs = 1
data = "mnist"
[size.small.axes]
seed = [0, 1]
[size.small.variant."a, b"]
widths = [64, 32]
[[size.small.exclude]]
block = 4
[size.tiny.train]
epochs = 2
)";

class Sizes : public testing::Test {
 protected:
  Sizes() {
    std::filesystem::create_directories(folder_ / "sizes");
    test::write_text(
        folder_ / "sizes" / "full.toml",
        "[train]\nepochs = 90\ndata = \"here\"\n[axes]\nsparsity = [0.5]\nblock = [8]\nseed = [0]\n"
        "[sweep]\nworkers = 4\n");
  }
  SweepFile file(const std::string& size, const std::string& text = kTable) const {
    return sweep_file(text, path_, size);
  }
  std::string problem(const std::string& size, const std::string& text = kTable) const {
    return test::message_of([&] { file(size, text); });
  }
  /// The sections as a file without comments says them.
  static std::string said(const SweepFile& file) { return file.text.substr(file.text.find('\n') + 1); }

  test::TempFolder folder_;
  std::string path_ = (folder_ / "drop.toml").string();
};

TEST_F(Sizes, TheFirstIsTheUsualOneAndTheFileGoesBeforeItsBase) {
  const SweepFile full = file("");
  EXPECT_EQ(full.size, "full");
  EXPECT_EQ(full.name, "drop");
  // Axes of the base keep their order, whichever of them the file has values for.
  EXPECT_EQ(
      said(full),
      "\n[train]\nepochs = 3\ndata = \"here\"\n\n[axes]\ndrop = [\"mask\", \"zero\"]\nsparsity = [0.5]\n"
      "block = [4]\nseed = [0]\n\n[sweep]\nworkers = 4\n");
}

TEST_F(Sizes, WhatIsSaidForASizeGoesBeforeWhatIsSaidForAll) {
  const SweepFile small = file("small");
  EXPECT_EQ(small.name, "drop-small");
  EXPECT_EQ(said(small),
            "\n[train]\nepochs = 1\ndata = \"mnist\"\n\n[axes]\ndrop = [\"mask\", \"zero\"]\nblock = [4]\n"
            "seed = [0, 1]\n\n[variant.\"a, b\"]\nwidths = [64, 32]\n\n[[exclude]]\nblock = 4\n");
  EXPECT_EQ(said(file("tiny")),
            "\n[train]\nepochs = 2\n\n[axes]\ndrop = [\"mask\", \"zero\"]\nblock = [4]\n");
}

TEST_F(Sizes, AFileWithoutSizesIsKeptAsItIs) {
  const std::string text = "# mine\n[train]\nepochs = 3\n";
  EXPECT_EQ(file("", text).text, text);
  EXPECT_EQ(file("", text).size, "");
  EXPECT_EQ(problem("small", text), "size: " + path_ + " has no sizes");
}

TEST_F(Sizes, ErrorsNameTheSizesThereAreAndTheFileTheyStandIn) {
  EXPECT_EQ(problem("smal"),
            "size: " + path_ + " has no size \"smal\" (did you mean small?); known: full, small, tiny");
  EXPECT_EQ(problem("", "[size.a]\nbase = \"none.toml\"\n"),
            path_ + ": line 2: base: there is no file " + (folder_ / "none.toml").string());
  EXPECT_NE(problem("", "[size.a]\nepochs = 3\n").find("line 2: unknown key \"epochs\" in [size.a]"),
            std::string::npos);
  EXPECT_NE(
      problem("", "[size.\"../a\".train]\nepochs = 3\n").find("line 1: a size cannot be called \"../a\""),
      std::string::npos);
  const std::string base = (folder_ / "sizes" / "full.toml").string();
  test::write_text(base, "[train]\nepochs = x\n");
  EXPECT_TRUE(problem("").starts_with(base + ": line 2: ")) << problem("");
  test::write_text(base, "[size.a.train]\nepochs = 1\n");
  EXPECT_EQ(problem(""), base + ": line 1: a base has no sizes of its own");
}

TEST_F(Sizes, TextsSurviveBeingWritten) {
  const auto sections =
      read_sections("[variant.\"a \\\"b\\\\\"]\nx = '1 # \"2'\ny = [[1, 2], [3]]\nz = \"\"\n", "f");
  const auto again = read_sections(to_text(sections), "g");
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].label, "a \"b\\");
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(again[0].entries[i].value.items, sections[0].entries[i].value.items);
    EXPECT_EQ(again[0].entries[i].value.list, sections[0].entries[i].value.list);
  }
}

}  // namespace
}  // namespace hewn::sweep
