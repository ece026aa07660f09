// The queue of a sweep. Its runs are processes of this same program: called as hewn it only looks like one.
#include "hewn/sweep/queue.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "hewn/core/files.h"
#include "hewn/sweep/join.h"
#include "tests/support/temp_folder.h"

namespace hewn::sweep {
namespace {

/// Instead of the tests, where the queue has started us: a run that takes a moment, adds a line to a file for
/// every start, and fails where its options say so.
__attribute__((constructor)) void train_instead(int count, char** words, char**) {
  if (count < 2 || std::strcmp(words[0], "hewn") != 0 || std::strcmp(words[1], "train") != 0) return;
  std::string out;
  bool fails = false;
  for (int i = 2; i < count; ++i) {
    const std::string word = words[i];
    if (word.starts_with("--out=")) out = word.substr(6);
    fails |= word == "--method=bad";
  }
  const auto write = [&](const char* name, const char* text, const char* mode) {
    std::FILE* file = std::fopen((out + "/" + name).c_str(), mode);
    std::fputs(text, file);
    std::fclose(file);
  };
  write("config.json", "{}", "w");
  write("starts", "x", "a");
  usleep(30000);
  if (fails) {
    std::puts("hewn: it cannot be done");
    std::fflush(stdout);
    _exit(2);
  }
  write("summary.json", "{}", "w");
  _exit(0);
}

std::vector<Run> some_runs(int count) {
  std::vector<Run> out;
  for (int i = 0; i < count; ++i) {
    out.push_back({"run" + std::to_string(i), {{"method", i % 5 == 4 ? "bad" : "good"}}, {}, false});
  }
  return out;
}

/// Counts what it is told; `stop_after` so many starts it asks for an end.
class Counter final : public Watcher {
 public:
  explicit Counter(std::atomic<int>* stop = nullptr, int stop_after = 0) : stop_(stop), after_(stop_after) {}
  void on_start(const Run& /*run*/) override {
    if (++started == after_ && stop_ != nullptr) *stop_ = 15;
  }
  void on_end(const Run& run, State state) override { ended[run.name] = state; }
  void on_tick() override { ++ticks; }

  int started = 0;
  int64_t ticks = 0;
  std::map<std::string, State> ended;

 private:
  std::atomic<int>* stop_;
  int after_;
};

size_t starts_of(const Folder& folder, const Run& run) {
  const bool failed = folder.state(run.name) == State::kFailed;
  return read_file((failed ? folder.failed(run.name) : folder.run(run.name)) / "starts").size();
}

void expect_all_ended(const Folder& folder, const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    const bool bad = run.options.at("method") == "bad";
    EXPECT_EQ(folder.state(run.name), bad ? State::kFailed : State::kFinished) << run.name;
    if (bad) {
      EXPECT_EQ(folder.failure(run.name), "it cannot be done");
    }
  }
}

TEST(Queue, RunsEachOnceAndKeepsTheFailedApart) {
  const test::TempFolder temporary;
  const Folder folder{temporary.path()};
  const std::vector<sweep::Run> runs = some_runs(7);
  std::atomic<int> stop = 0;
  Counter counter;
  work(folder, runs, {3, 1, {"cpu"}, true}, counter, stop);
  expect_all_ended(folder, runs);
  EXPECT_EQ(counter.started, 7);
  EXPECT_EQ(counter.ended.size(), 7U);
  for (const sweep::Run& run : runs) EXPECT_EQ(starts_of(folder, run), 1U) << run.name;
}

TEST(Queue, GoesOnAfterItWasStopped) {
  const test::TempFolder temporary;
  const Folder folder{temporary.path()};
  const std::vector<sweep::Run> runs = some_runs(7);
  std::atomic<int> stop = 0;
  Counter first(&stop, 3);
  work(folder, runs, {2, 1, {"cpu"}, true}, first, stop);
  EXPECT_EQ(first.started, 3);
  stop = 0;
  Counter rest;
  work(folder, runs, {2, 1, {"cpu"}, true}, rest, stop);
  expect_all_ended(folder, runs);
  EXPECT_GE(first.started + rest.started, 7);
}

TEST(Queue, StopsFromAnotherThread) {
  const test::TempFolder temporary;
  const Folder folder{temporary.path()};
  const std::vector<sweep::Run> runs = some_runs(400);
  std::atomic<int> stop = 0;
  Counter counter;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = 2;
  });
  work(folder, runs, {2, 1, {"cpu"}, true}, counter, stop);
  other.join();
  EXPECT_LT(counter.started, 400);
}

TEST(Queue, OfSeveralThatWorkTogetherEachRunIsOneS) {
  const test::TempFolder temporary;
  const Folder folder{temporary.path()};
  const std::vector<sweep::Run> runs = some_runs(9);
  std::atomic<int> stop = 0;
  std::vector<std::thread> joiners;
  std::vector<int> started(3, 0);
  for (size_t i = 0; i < started.size(); ++i) {
    joiners.emplace_back([&, i] {
      Leases leases(folder.leases(), Holder::self(), std::chrono::seconds(60));
      Counter counter;
      EXPECT_TRUE(work_together(folder, leases, runs, {2, 1, {"cpu"}, true}, counter, stop));
      started[i] = counter.started;
    });
  }
  for (std::thread& joiner : joiners) joiner.join();
  expect_all_ended(folder, runs);
  for (const sweep::Run& run : runs) EXPECT_EQ(starts_of(folder, run), 1U) << run.name;
  EXPECT_EQ(started[0] + started[1] + started[2], 9);
}

}  // namespace
}  // namespace hewn::sweep
