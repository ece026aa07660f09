// Several processes on this machine train the network that one process trains.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <future>
#include <thread>

#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "hewn/io/safetensors.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::test {
namespace {

using Words = std::vector<std::string>;

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class Launch : public testing::Test {
 protected:
  void SetUp() override {
    write_tiny_mnist(folder_ / "data", 960, 100);
    if (hewn({"launch", "-n", "2", "--", "train", "--steps", "0", "--epochs", "0"})
            .err.find("one process only") != std::string::npos) {
      GTEST_SKIP() << "this build has no Gloo";
    }
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  Words images(const std::string& run) const {
    return {"train",
            "--quiet",
            "--json",
            "--data",
            "mnist:" + path("data"),
            "--steps",
            "50",
            "--batch",
            "48",
            "--widths",
            "128,128",
            "--block",
            "8",
            "--sparsity",
            "0.9",
            "--threads",
            "1",
            "--log-every",
            "10",
            "--checkpoint-every",
            "10",
            "--method",
            "sa++r",
            "--sparse-execution",
            "off",
            "--out",
            path(run)};
  }
  static Words clicks(const std::string& out) {
    return {"train",
            "--quiet",
            "--json",
            "--data",
            "synthetic-ctr",
            "--no-compare-dense",
            "--steps",
            "50",
            "--batch",
            "512",
            "--widths",
            "64,32",
            "--block",
            "8",
            "--sparsity",
            "0.9",
            "--threads",
            "1",
            "--method",
            "sa++r",
            "--sparse-execution",
            "off",
            "--out",
            out};
  }
  static Words on(int processes, const Words& command) {
    return Words{"launch", "-n", std::to_string(processes), "--"} + command;
  }

  /// The largest difference between the weights of two runs over the largest weight; also demands the same
  /// blocks.
  double difference(const std::string& a, const std::string& b) const {
    const auto first = io::read_safetensors(folder_ / a / "model.safetensors");
    const auto second = io::read_safetensors(folder_ / b / "model.safetensors");
    EXPECT_EQ(first.metadata.at("hewn.blocks"), second.metadata.at("hewn.blocks"));
    double most = 0;
    double scale = 0;
    for (const auto& [name, tensor] : first.tensors) {
      const auto& other = second.tensors.at(name);
      for (size_t i = 0; i + sizeof(float) <= tensor.data.size(); i += sizeof(float)) {
        float x = 0;
        float y = 0;
        std::memcpy(&x, tensor.data.data() + i, sizeof(x));
        std::memcpy(&y, other.data.data() + i, sizeof(y));
        most = std::max(most, std::abs(static_cast<double>(x) - static_cast<double>(y)));
        scale = std::max(scale, std::abs(static_cast<double>(x)));
      }
    }
    return most / scale;
  }

  TempFolder folder_;
};

TEST_F(Launch, TwoAndFourProcessesTrainTheSameNetwork) {
  ASSERT_EQ(hewn(images("one")).code, 0);
  for (const int processes : {2, 4}) {
    const std::string run = "ranks" + std::to_string(processes);
    const Outcome outcome = hewn(on(processes, images(run)));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_LT(difference("one", run), 1e-5) << processes;
    const Json one = Json::parse(read_file(folder_ / "one" / "summary.json"));
    EXPECT_EQ(Json::parse(outcome.out)["metrics"]["accuracy"], one["metrics"]["accuracy"]);
  }
}

TEST_F(Launch, SlowBatchNormCanSeeTheWholeBatch) {
  const auto residual = [&](const std::string& run) {
    Words words = images(run);
    // Dense: after few steps rounding would decide between blocks.
    std::replace(words.begin(), words.end(), std::string("sa++r"), std::string("dense"));
    std::replace(words.begin(), words.end(), std::string("50"), std::string("3"));
    std::replace(words.begin(), words.end(), std::string("48"), std::string("16"));
    return words + Words{"--model", "resnet20", "--lr", "0.01"};
  };
  const Words whole = {"--sync-batch-norm"};
  ASSERT_EQ(hewn(residual("one")).code, 0);
  const Outcome outcome = hewn(on(2, residual("two") + whole));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_LT(difference("one", "two"), 1e-4);
  ASSERT_EQ(hewn(on(2, residual("shares"))).code, 0);
  EXPECT_GT(difference("one", "shares"), 1e-3);
  const Outcome without = hewn(images("none") + whole);
  EXPECT_EQ(without.code, 2);
  EXPECT_NE(without.err.find("sync-batch-norm: model mlp has no batch-norm layers"), std::string::npos);
}

TEST_F(Launch, SlowEmbeddingsAreSharedAsTheRowsThatWereTouched) {
  ASSERT_EQ(hewn(clicks(path("one"))).code, 0);
  const Outcome outcome = hewn(on(2, clicks(path("two"))));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  // Adam divides by the size of a gradient: where that is tiny, rounding shows.
  EXPECT_LT(difference("one", "two"), 1e-3);
}

TEST_F(Launch, ResumesWithAnotherNumberOfProcesses) {
  ASSERT_EQ(hewn(images("whole")).code, 0);
  Words part = images("parts");
  const auto killed = hewn_killed_when(
      on(2, part), [&] { return std::filesystem::exists(folder_ / "parts/checkpoints/step-10.safetensors"); },
      0);
  ASSERT_TRUE(killed);
  // The ranks outlive their launcher for a moment; they hold the folder's lock.
  Outcome outcome;
  for (int attempt = 0; attempt < 100; ++attempt) {
    outcome = hewn(on(4, part + Words{"--resume"}));
    if (outcome.err.find("another process") == std::string::npos) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_LT(difference("whole", "parts"), 1e-5);
}

/// The process with that rank among those whose command line holds `mark`.
pid_t find_rank(int rank, const std::string& mark) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream command(entry.path() / "cmdline");
    const std::string words((std::istreambuf_iterator<char>(command)), {});
    if (words.find(mark) == std::string::npos || words.find("launch") != std::string::npos) continue;
    std::ifstream environment(entry.path() / "environ");
    const std::string variables((std::istreambuf_iterator<char>(environment)), {});
    const std::string wanted = "RANK=" + std::to_string(rank);
    if (variables.starts_with(wanted) || variables.find('\0' + wanted + '\0') != std::string::npos) {
      return std::stoi(entry.path().filename().string());
    }
  }
  return 0;
}

TEST_F(Launch, ALostRankEndsTheJobAndIsNamed) {
  Words endless = images("endless");
  endless[6] = "100000000";
  auto job = std::async(std::launch::async, [&] { return hewn(on(3, endless)); });
  while (!std::filesystem::exists(folder_ / "endless/checkpoints/step-10.safetensors")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const pid_t victim = find_rank(1, path("endless"));
  ASSERT_GT(victim, 0);
  kill(victim, SIGKILL);
  const Outcome outcome = job.get();
  EXPECT_NE(outcome.code, 0);
  for (const char* survivor : {"rank 0 of 3: lost rank 1", "rank 2 of 3: lost rank 1"}) {
    EXPECT_NE(outcome.err.find(survivor), std::string::npos) << outcome.err;
  }
  EXPECT_NE(outcome.err.find("launch: rank 1 was ended by signal 9"), std::string::npos) << outcome.err;
}

TEST_F(Launch, SlowRankZeroThatStandsStillIsNamed) {
  // Its store no longer answers, unlike that of a process that is gone.
  Words endless = images("endless") + Words{"--patience", "3"};
  endless[6] = "100000000";
  auto job = std::async(std::launch::async, [&] { return hewn(on(3, endless)); });
  while (!std::filesystem::exists(folder_ / "endless/checkpoints/step-10.safetensors")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const pid_t first = find_rank(0, path("endless"));
  ASSERT_GT(first, 0);
  kill(first, SIGSTOP);
  while (find_rank(1, path("endless")) != 0 || find_rank(2, path("endless")) != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  kill(first, SIGKILL);
  const Outcome outcome = job.get();
  EXPECT_NE(outcome.code, 0);
  for (const char* survivor : {"rank 1 of 3: lost rank 0", "rank 2 of 3: lost rank 0"}) {
    EXPECT_NE(outcome.err.find(survivor), std::string::npos) << outcome.err;
  }
}

TEST_F(Launch, MistakesAreOneLine) {
  const auto expect_error = [](const Words& words, const std::string& said) {
    const Outcome outcome = hewn(words);
    EXPECT_NE(outcome.code, 0);
    EXPECT_NE(outcome.err.find(said), std::string::npos) << outcome.err;
  };
  expect_error({"launch", "-n", "0", "--", "train"}, "-n: expected at least 1");
  expect_error({"launch", "-n", "2"}, "behind --");
  Words uneven = images("uneven");
  uneven[8] = "49";
  expect_error(on(2, uneven), "multiple of the 2 processes");
  EXPECT_FALSE(std::filesystem::exists(path("uneven")));
  setenv("WORLD_SIZE", "2", 1);
  expect_error(images("x"), "RANK must be too");
  setenv("RANK", "2", 1);
  expect_error(images("x"), "RANK: expected a number from 0 to 1");
  setenv("RANK", "1", 1);
  expect_error(images("x"), "MASTER_ADDR must be too");
  for (const char* name : {"WORLD_SIZE", "RANK"}) unsetenv(name);
}

/// Ranks that were started by hand, each with its own words and in its own folder.
std::vector<Outcome> by_hand(const std::vector<std::pair<std::filesystem::path, Words>>& ranks) {
  static int calls = 0;
  const std::string port = std::to_string(20000 + (getpid() + 7 * calls++) % 20000);
  const std::filesystem::path before = std::filesystem::current_path();
  std::vector<std::future<Outcome>> jobs;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    setenv("WORLD_SIZE", std::to_string(ranks.size()).c_str(), 1);
    setenv("RANK", std::to_string(rank).c_str(), 1);
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    setenv("MASTER_PORT", port.c_str(), 1);
    std::filesystem::current_path(ranks[rank].first);
    jobs.push_back(hewn_started(ranks[rank].second));
  }
  std::filesystem::current_path(before);
  for (const char* name : {"WORLD_SIZE", "RANK", "MASTER_ADDR", "MASTER_PORT"}) unsetenv(name);
  std::vector<Outcome> out;
  for (auto& job : jobs) out.push_back(job.get());
  return out;
}

TEST_F(Launch, RanksWithOtherDataOrOptionsAreToldSo) {
  write_tiny_mnist(folder_ / "less", 480, 100);
  const auto expect = [](const std::vector<Outcome>& all, const std::string& first,
                         const std::string& second) {
    for (const Outcome& one : all) {
      EXPECT_EQ(one.code, 2) << one.err;
      EXPECT_EQ(std::count(one.err.begin(), one.err.end(), '\n'), 1) << one.err;
    }
    EXPECT_NE(all[0].err.find(first), std::string::npos) << all[0].err;
    EXPECT_NE(all[1].err.find(second), std::string::npos) << all[1].err;
  };
  Words wider = images("options");
  wider[8] = "96";
  expect(by_hand({{folder_.path(), images("options")}, {folder_.path(), wider}}),
         "rank 0 of 2: rank 1 has other options",
         "rank 1 of 2: other options than rank 0: batch is \"96\", not \"48\"");
  EXPECT_FALSE(std::filesystem::exists(path("options")));
  // A relative path, as on two machines.
  Words there = images("run");
  there[4] = "mnist:.";
  expect(by_hand({{folder_ / "data", there}, {folder_ / "less", there}}),
         "rank 0 of 2: rank 1 has other data",
         "rank 1 of 2: other data than rank 0: training rows is 480, not 960");
  // The same sizes and other rows.
  write_tiny_mnist(folder_ / "changed", 960, 100);
  const std::filesystem::path rows = folder_ / "changed" / "train-images-idx3-ubyte";
  std::string bytes = read_file(rows);
  bytes.back() = static_cast<char>(bytes.back() + 1);
  write_text(rows, bytes);
  expect(by_hand({{folder_ / "data", there}, {folder_ / "changed", there}}),
         "rank 0 of 2: rank 1 has other data", "rank 1 of 2: other data than rank 0: checksum is ");
}

TEST_F(Launch, SlowTorchrunStartsItUnchanged) {
  if (!std::filesystem::exists("/usr/bin/torchrun")) GTEST_SKIP() << "no torchrun (Debian: python3-torch)";
  ASSERT_EQ(hewn(images("one")).code, 0);
  // -r and -t: their defaults fail in Debian 12, whose torchrun is older than its Python.
  std::string command =
      "/usr/bin/python3 /usr/bin/torchrun --no_python --nproc_per_node 2 -r 1 -t 1 " HEWN_PROGRAM;
  for (const std::string& word : images("torchrun")) command += " '" + word + "'";
  command += " > '" + path("out") + "' 2> '" + path("err") + "'";
  ASSERT_EQ(std::system(command.c_str()), 0) << read_file(folder_ / "err");
  EXPECT_LT(difference("one", "torchrun"), 1e-5);
}

}  // namespace
}  // namespace hewn::test
