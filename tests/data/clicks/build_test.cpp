// Building the cache of a click log when something goes wrong: kills, full disks, damaged files.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <future>
#include <string>

#include "hewn/core/random.h"
#include "hewn/data/clicks/cache/cache_file.h"
#include "tests/data/clicks/support.h"
#include "tests/support/click_logs.h"
#include "tests/support/temp_folder.h"

namespace hewn::data {
namespace {

namespace fs = std::filesystem;
using test::criteo_rows;
using test::TempFolder;
using test::write_text;

TEST(ClickBuild, DamageIsFoundAndNamed) {
  const TempFolder folder;
  write_text(folder / "a.tsv", criteo_rows(0, 300));
  const fs::path path = prepare_clicks(request_for(folder / "a.tsv", folder / "cache")).cache;
  const std::string good = read_file(path);
  const auto use = [&] {
    const CacheFile cache(path);
    for (size_t g = 0; g < cache.groups().size(); ++g) cache.group(g);
    for (size_t f = 0; f < cache.fields().size(); ++f) {
      if (!cache.fields()[f].numeric) cache.vocabulary(f);
    }
  };
  EXPECT_EQ(message_of(use), "no error");
  int harmless = 0;
  for (uint64_t i = 0; i < 1500; ++i) {
    const auto words = draw(8, Stream::kPattern, 0, i);
    // All of the header, then anywhere.
    const size_t position = i < 56 ? i : below(words[0], static_cast<uint32_t>(good.size()));
    std::string bad = good;
    bad[position] = static_cast<char>(bad[position] ^ (1 << words[1] % 8));
    write_text(path, bad);
    const std::string error = message_of(use);
    const bool found = error.find(path.string() + ": is damaged") != std::string::npos;
    ASSERT_TRUE(found || error == "no error") << error;
    ASSERT_TRUE(found || i >= 56) << position;
    harmless += found ? 0 : 1;  // between two vocabularies
  }
  EXPECT_LT(harmless, 30);
  for (size_t cut = 0; cut < good.size(); cut += 1 + cut / 8) {
    write_text(path, good.substr(0, cut));
    ASSERT_NE(message_of(use).find("delete it"), std::string::npos) << cut;
  }
}

/// Runs an action in a child process, which is killed (SIGKILL) once `now` says so; returns its wait status.
int in_child(const std::function<void()>& action, const std::function<bool()>& now = nullptr) {
  const pid_t child = fork();
  if (child == 0) {
    action();
    _exit(0);
  }
  int status = 0;
  if (!now) waitpid(child, &status, 0);
  while (now && waitpid(child, &status, WNOHANG) == 0) {
    if (now()) kill(child, SIGKILL);
    usleep(100);
  }
  return status;
}

TEST(ClickBuild, AKilledBuildGoesOnAndGivesTheSameBytes) {
  using Clock = std::chrono::steady_clock;
  const TempFolder folder;
  fs::create_directories(folder / "days");
  write_text(folder / "days/day_1", criteo_rows(0, 30000));
  test::write_gzip(folder / "days/day_2.gz", criteo_rows(30000, 10000) + "broken\n");
  const uint64_t spool_size = fs::file_size(folder / "days/day_1") / 2;
  PrepareRequest request = request_for(folder / "days", folder / "reference", 2);
  request.options.bad_rows = 0.01;
  request.chunk = size_t{1} << 14;
  const auto begin = Clock::now();
  const std::string expected = built(request);
  const auto whole = Clock::now() - begin;
  int killed = 0;
  int resumed = 0;
  request.on_message = [&](const std::string& text) { resumed += text.starts_with("going on") ? 1 : 0; };
  for (uint64_t i = 0; i < 8; ++i) {
    const TempFolder here;
    request.options.cache = here.path().string();
    const fs::path spool = cache_paths("criteo", request.path, request.options.cache).building / "spool";
    for (uint64_t k = 0; k < 3; ++k) {
      // Twice while rows are read, and once at any moment.
      const double share = unit(draw(9, Stream::kPattern, k, i)[0]);
      const auto start = Clock::now();
      const auto now = [&] {
        if (k == 1) return Clock::now() - start > whole * share;
        std::error_code none;
        const auto size = fs::file_size(spool, none);
        return !none && static_cast<double>(size) > share * static_cast<double>(spool_size);
      };
      killed += WIFSIGNALED(in_child([&] { prepare_clicks(request); }, now)) ? 1 : 0;
    }
    ASSERT_EQ(built(request), expected);
  }
  EXPECT_GT(killed, 8);
  EXPECT_GT(resumed, 1);
}

TEST(ClickBuild, LeftoversOfOtherOptionsAreRemoved) {
  const TempFolder folder;
  write_text(folder / "a.tsv", criteo_rows(0, 300));
  PrepareRequest request = request_for(folder / "a.tsv", folder / "cache");
  const fs::path building = cache_paths("criteo", request.path, request.options.cache).building;
  fs::create_directories(building);
  write_text(building / "key.json", "{}");
  write_text(building / "spool", "leftover");
  const std::string once = built(request);
  EXPECT_FALSE(fs::exists(building));
  request.options.cache = (folder / "other").string();
  EXPECT_EQ(built(request), once);
}

TEST(ClickBuild, OnlyOneProcessBuildsAndTheOthersWaitForIt) {
  const TempFolder folder;
  write_text(folder / "a.tsv", criteo_rows(0, 300));
  PrepareRequest request = request_for(folder / "a.tsv", folder / "cache");
  fs::create_directories(folder / "cache");
  std::promise<std::string> said;
  request.on_message = [&](const std::string& text) {
    if (text.find("waiting") != std::string::npos) said.set_value(text);
  };
  std::future<Prepared> waiting;
  {
    const FileLock lock(cache_paths("criteo", request.path, request.options.cache).lock);
    waiting = std::async(std::launch::async, [&] { return prepare_clicks(request); });
    EXPECT_NE(said.get_future().get().find("another process makes it"), std::string::npos);
    EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  }
  EXPECT_TRUE(waiting.get().built);
}

/// The message of a build that may write files of so many bytes at most.
std::string message_with_limit(const PrepareRequest& request, uint64_t bytes, const fs::path& report) {
  in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    const std::string message = message_of([&] {
      setrlimit(RLIMIT_FSIZE, &limit);
      prepare_clicks(request);
    });
    std::ofstream(report) << message.substr(0, bytes);
  });
  return read_file(report);
}

TEST(ClickBuild, AFullDiskIsOneLineAndLeavesNothing) {
  const TempFolder folder;
  write_text(folder / "a.tsv", criteo_rows(0, 3000));
  const PrepareRequest request = request_for(folder / "a.tsv", folder / "cache", 2);
  const fs::path cache = cache_paths("criteo", request.path, request.options.cache).file;
  const std::string whole = built(request);
  fs::remove(cache);
  int refused = 0;
  for (uint64_t bytes = 4096; bytes < whole.size(); bytes += whole.size() / 12) {
    const std::string error = message_with_limit(request, bytes, folder / "report");
    EXPECT_TRUE(error.starts_with("the cache " + cache.string() + " cannot be built: ")) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos);
    EXPECT_FALSE(fs::exists(cache));
    EXPECT_FALSE(fs::exists(fs::path(cache).replace_extension("building")));
    ++refused;
  }
  EXPECT_GT(refused, 8);
  EXPECT_EQ(built(request), whole);
}

TEST(ClickBuild, ARealFullDisk) {
  const TempFolder folder;
  fs::create_directories(folder / "small");
  const std::string disk = (folder / "small").string();
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=256k") != 0)
    GTEST_SKIP() << "no right to mount a small disk";
  write_text(folder / "a.tsv", criteo_rows(0, 3000));
  const std::string error = message_of([&] { prepare_clicks(request_for(folder / "a.tsv", disk)); });
  EXPECT_NE(error.find("No space left on device"), std::string::npos) << error;
  EXPECT_NE(error.find(disk), std::string::npos) << error;
  for (const auto& entry : fs::directory_iterator(disk)) EXPECT_EQ(entry.path().extension(), ".lock");
  EXPECT_EQ(umount(disk.c_str()), 0);
}

TEST(ClickBuild, AFolderThatCannotBeWrittenNamesTheOption) {
  const TempFolder folder;
  write_text(folder / "a.tsv", criteo_rows(0, 10));
  write_text(folder / "file", "");
  const PrepareRequest request = request_for(folder / "a.tsv", folder / "file/cache");
  EXPECT_NE(message_of([&] { prepare_clicks(request); }).find("another folder for the cache"),
            std::string::npos);
}

}  // namespace
}  // namespace hewn::data
