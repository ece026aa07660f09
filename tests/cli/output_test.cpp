// What becomes of what --out names: nothing is replaced that is not a regular file.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fstream>
#include <future>

#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"

namespace hewn::test {
namespace {

class Output : public testing::Test {
 protected:
  void SetUp() override {
    std::string text = "a,b,y\n";
    for (int i = 0; i < 40; ++i)
      text += std::to_string(i) + "," + std::to_string(i * i % 7) + "," + std::to_string(2 * i + 1) + "\n";
    write_text(folder_ / "t.csv", text);
  }

  Outcome select(const std::string& out) const {
    return hewn({"select", (folder_ / "t.csv").string(), "-k", "1", "--out", out});
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static void expect_result(const std::string& text) {
    EXPECT_EQ(Json::parse(text, nullptr, false).value("method", ""), "omp") << text.substr(0, 80);
  }
  static void expect_refused(const Outcome& outcome, const std::string& said) {
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(said), std::string::npos) << outcome.err;
  }

  TempFolder folder_;
};

TEST_F(Output, OverADeviceGoesIntoIt) {
  const std::string null = path("null.json");
  if (mknod(null.c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0) GTEST_SKIP() << "may not make a device";
  select(null);
  EXPECT_TRUE(std::filesystem::is_character_file(null));
  const std::string full = path("full.json");
  ASSERT_EQ(mknod(full.c_str(), S_IFCHR | 0600, makedev(1, 7)), 0);
  expect_refused(select(full), "full.json: cannot be written");
  EXPECT_TRUE(std::filesystem::is_character_file(full));
}

TEST_F(Output, IntoAPipeIsRead) {
  const std::string pipe = path("pipe.json");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  auto reader = std::async(std::launch::async, [&] {
    std::ifstream in(pipe);
    return std::string((std::istreambuf_iterator<char>(in)), {});
  });
  EXPECT_EQ(select(pipe).code, 0);
  expect_result(reader.get());
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST_F(Output, OverALinkReplacesWhatItLeadsTo) {
  write_text(folder_ / "real.json", "old");
  write_text(folder_ / "precious", "mine");
  std::filesystem::create_symlink("real.json", folder_ / "link.json");
  std::filesystem::create_symlink("precious", folder_ / "link.json.tmp");
  std::filesystem::create_symlink("precious", folder_ / "real.json.tmp");
  EXPECT_EQ(select(path("link.json")).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link.json"));
  expect_result(read_file(folder_ / "real.json"));
  EXPECT_EQ(read_file(folder_ / "precious"), "mine");
}

TEST_F(Output, NamesOfAnyBytesAndLength) {
  for (const std::string& name : {std::string(250, 'n') + ".json", std::string("\xff\xfe.json")}) {
    const Outcome outcome = select(path(name));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    expect_result(read_file(folder_ / name));
  }
  expect_refused(select(path(std::string(251, 'n') + ".json")), "File name too long");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 3);
}

TEST_F(Output, RefusesFoldersAndReadOnlyPlaces) {
  std::filesystem::create_directory(folder_ / "dir.json");
  expect_refused(select(path("dir.json")), "it is a folder");
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "dir.json"));
  expect_refused(select("/proc/x.json"), "/proc/x.json: cannot be written");
  expect_refused(select(path("none/x.json")), "cannot be written: No such file or directory");
}

TEST_F(Output, NamesInFilesDoNotReachTheTerminalRaw) {
  // A tensor whose name would colour the terminal, and one that is not there.
  const std::string header = R"({"a\u001b[31m\nb":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  write_text(folder_ / "w.safetensors", bytes + header + std::string(4, '\0'));
  const Outcome shown = hewn({"inspect", path("w.safetensors")});
  for (const std::string& text : {shown.out, shown.err})
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  expect_refused(hewn({"train", "--init", path("w.safetensors"), "--out", path("run")}),
                 "is not part of the model");
}

}  // namespace
}  // namespace hewn::test
