// hewn has no LibTorch and starts at once. It answers by itself what needs none, and becomes hewn-torch for
// the rest.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "hewn/core/files.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"

namespace hewn::test {
namespace {

/// Lets another program, or none, stand for hewn-torch.
class Startup : public testing::Test {
 protected:
  void TearDown() override { unsetenv("HEWN_TORCH_PROGRAM"); }

  static void stand_in(const std::string& program) { setenv("HEWN_TORCH_PROGRAM", program.c_str(), 1); }
  std::string script(const std::string& text) const {
    const std::string path = (folder_ / "hewn-torch").string();
    write_text(path, "#!/bin/sh\n" + text);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  TempFolder folder_;
};

std::string output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  std::string out;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) out += static_cast<char>(c);
  pclose(pipe);
  return out;
}

TEST_F(Startup, TheProgramNeedsFewLibraries) {
  const std::string libraries = output_of("ldd " HEWN_PROGRAM);
  EXPECT_EQ(libraries.find("torch"), std::string::npos) << libraries;
  EXPECT_LT(std::count(libraries.begin(), libraries.end(), '\n'), 25) << libraries;
  EXPECT_NE(output_of("ldd " HEWN_TORCH_PROGRAM).find("libtorch"), std::string::npos);
}

TEST_F(Startup, AnswersWithoutLibTorch) {
  stand_in("/nowhere/hewn-torch");
  write_text(folder_ / "t.csv", "a,b,y\n1,2,3\n2,1,4\n3,5,1\n4,2,2\n5,1,7\n");
  const std::vector<std::vector<std::string>> answered = {
      {"--version"},
      {"--help"},
      {"train", "--help"},
      {"bench", "--help"},
      {"methods"},
      {"phases", "--json"},
      {"select", (folder_ / "t.csv").string(), "--target", "y", "--k", "1"}};
  for (const std::vector<std::string>& arguments : answered) {
    const Outcome outcome = hewn(arguments);
    EXPECT_EQ(outcome.code, 0) << arguments[0] << outcome.err;
    EXPECT_FALSE(outcome.out.empty()) << arguments[0];
  }
  write_text(folder_ / "s.toml", "[sweep]\nblok = 3\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused = {
      {{"train", "--blok", "3"}, "did you mean --block?"},
      {{"train", "--sparsity", "1.5"}, "sparsity: expected"},
      {{"train", "--method", "magic"}, "sa++r"},
      {{"train", "--model", "resnet51"}, "resnet50"},
      {{"train", "--data", "imagenet"}, "cifar10"},
      {{"train", "--steps", "-1"}, "steps: expected 0 or more"},
      {{"bench", "linear", "--batch", "0"}, "batch: expected at least 1"},
      {{"bench", "model", "--model", "mpl"}, "mlp"},
      {{"advise", "mpl"}, "mlp"},
      {{"advise", "mlp", "--batch", "0"}, "batch: expected at least 1"},
      {{"plan", "--width", "0"}, "width: expected 1 to 4096"},
      {{"eval", "/nowhere/run"}, "/nowhere/run: no such file or folder"},
      {{"report", "/nowhere/run"}, "/nowhere/run: no such file or folder"},
      {{"sweep", (folder_ / "s.toml").string()}, "blok"},
      {{"prepare", "--data", "mnist:x"}, "only click logs"},
  };
  for (const auto& [arguments, expected] : refused) {
    const Outcome outcome = hewn(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find(expected), std::string::npos) << outcome.err << "expected: " << expected;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST_F(Startup, SaysWhereItLookedForLibTorch) {
  stand_in("/nowhere/hewn-torch");
  const Outcome missing = hewn({"plan"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_EQ(missing.err,
            "hewn: hewn-torch, which does what needs LibTorch, is missing: looked for /nowhere/hewn-torch\n");
  stand_in(folder_.path().string());
  EXPECT_NE(hewn({"plan"}).err.find("cannot be run"), std::string::npos);
  // On its own it looks beside itself and where both are installed.
  unsetenv("HEWN_TORCH_PROGRAM");
  std::filesystem::create_directories(folder_ / "bin");
  std::filesystem::copy_file(HEWN_PROGRAM, folder_ / "bin" / "hewn");
  const std::string alone = output_of((folder_ / "bin" / "hewn").string() + " plan 2>&1");
  for (const char* place : {"bin/hewn-torch", "libexec/hewn/hewn-torch"}) {
    EXPECT_NE(alone.find((folder_ / place).string()), std::string::npos) << alone;
  }
}

// Arguments, standard input, exit code: all as if there were one program.
TEST_F(Startup, HandsEverythingOver) {
  stand_in(script("for word; do echo \"<$word>\"; done; cat; exit 7\n"));
  const Outcome outcome = hewn_fed("1,2\n", {"predict", "m.hewn", "-", "--out", "a b.csv"});
  EXPECT_EQ(outcome.code, 7);
  EXPECT_EQ(outcome.out, "<predict>\n<m.hewn>\n<->\n<--out>\n<a b.csv>\n1,2\n");
}

// What comes through a pipe can be read once only.
TEST_F(Startup, LeavesPipesUnread) {
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  stand_in(script("timeout 20 cat \"$3\"\n"));
  std::thread writer([&] { std::ofstream(pipe) << "lr = 0.5\n"; });
  const Outcome outcome = hewn({"train", "--config", pipe});
  writer.join();
  EXPECT_EQ(outcome.out, "lr = 0.5\n");
}

TEST_F(Startup, BecomesTheOtherProgramAndIsKilledAsOne) {
  const std::string mark = (folder_ / "pid").string();
  stand_in(script("echo $$ > " + mark + "; exec sleep 60\n"));
  EXPECT_TRUE(hewn_killed_when(
      {"plan"}, [&] { return std::filesystem::exists(mark) && std::filesystem::file_size(mark) > 1; }, 10));
  // Had it been another process, it would live on.
  const pid_t pid = std::stoi(read_file(mark));
  EXPECT_EQ(kill(pid, 0), -1) << pid;
}

}  // namespace
}  // namespace hewn::test
