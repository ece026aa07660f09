// Leases: one holder at a time, whoever dies, falls silent or comes late.
#include "hewn/sweep/lease.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "tests/support/temp_folder.h"

namespace hewn::sweep {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLong{3600 * 1000};
constexpr milliseconds kShort{150};

/// As if on a machine of its own.
Holder on_machine(const std::string& name) { return {name, name, 1, name, 0}; }

void wait(milliseconds time) { std::this_thread::sleep_for(time); }

TEST(Lease, IsHeldByOneUntilItLetsGo) {
  const test::TempFolder folder;
  Leases a(folder.path(), on_machine("a"), kLong);
  Leases b(folder.path(), on_machine("b"), kLong);
  {
    std::optional<Lease> lease = a.claim("runs/x");
    ASSERT_TRUE(lease);
    EXPECT_FALSE(a.claim("runs/x"));
    EXPECT_FALSE(b.claim("runs/x"));
    EXPECT_TRUE(b.claim("runs/y"));
    EXPECT_TRUE(b.is_held("runs/x"));
    EXPECT_TRUE(lease->confirm());
    const Lease moved = std::move(*lease);
    lease.reset();
    EXPECT_FALSE(b.claim("runs/x"));
  }
  EXPECT_FALSE(b.is_held("runs/x"));
  EXPECT_TRUE(b.claim("runs/x"));
  EXPECT_TRUE(a.claim("runs/x"));
}

TEST(Lease, SaysWhoHoldsIt) {
  const test::TempFolder folder;
  const Holder self = Holder::self();
  Leases own(folder.path(), self, kLong);
  const auto lease = own.claim("x");
  const Json said = Json::parse(read_file(folder / "x/1.json"));
  EXPECT_EQ(said["host"], self.host);
  EXPECT_EQ(said["pid"], ::getpid());
  EXPECT_TRUE(said["token"].get<std::string>().starts_with(self.token));
  EXPECT_NE(Holder::self().token, self.token);
  EXPECT_EQ(Holder::self().machine, self.machine);
}

TEST(Lease, OfASilentHolderIsTakenOver) {
  const test::TempFolder folder;
  Leases a(folder.path(), on_machine("a"), kShort);
  Leases b(folder.path(), on_machine("b"), kShort);
  std::optional<Lease> first = a.claim("x");
  EXPECT_FALSE(b.claim("x"));
  wait(kShort * 2);
  std::optional<Lease> second = b.claim("x");
  ASSERT_TRUE(second);
  EXPECT_FALSE(first->confirm());
  EXPECT_FALSE(first->renew());
  first.reset();  // what the loser writes changes nothing
  EXPECT_TRUE(second->confirm());
  EXPECT_FALSE(a.claim("x"));
}

TEST(Lease, IsKeptByRenewalAndSilenceCountsFromTheFirstLook) {
  const test::TempFolder folder;
  constexpr milliseconds kPatience{600};
  Leases a(folder.path(), on_machine("a"), kPatience);
  Leases b(folder.path(), on_machine("b"), milliseconds(1));  // waits as long as the holder asks for
  std::optional<Lease> lease = a.claim("x");
  for (int i = 0; i < 30; ++i) {
    EXPECT_TRUE(lease->renew());
    EXPECT_FALSE(b.claim("x"));
    wait(kPatience / 15);
  }
  wait(kPatience);
  Leases fresh(folder.path(), on_machine("c"), kPatience);
  EXPECT_FALSE(fresh.claim("x"));  // its last renewal may have been a moment ago
}

TEST(Lease, OfADeadProcessOfThisMachineIsTakenAtOnce) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  const test::TempFolder folder;
  Holder dead = Holder::self();
  ASSERT_FALSE(dead.machine.empty());
  dead.pid = child;
  Leases gone(folder.path(), dead, kLong);
  const auto here = gone.claim("here");
  dead.machine = "another";
  Leases elsewhere(folder.path(), dead, kLong);
  const auto there = elsewhere.claim("there");
  Leases own(folder.path(), Holder::self(), kLong);
  EXPECT_TRUE(own.claim("here"));
  EXPECT_FALSE(own.claim("there"));  // the pid means another process there
}

TEST(Lease, ThatCannotBeReadIsTakenAfterSilence) {
  const test::TempFolder folder;
  const std::vector<std::string> texts = {"",
                                          "{",
                                          "[[[[[[",
                                          "null",
                                          R"({"held": 0, "pid": -1, "machine": 3})",
                                          R"({"patience_ms": -5, "token": []})",
                                          std::string(1 << 17, '[')};
  Leases own(folder.path(), Holder::self(), kShort);
  for (size_t i = 0; i < texts.size(); ++i) {
    std::filesystem::create_directories(folder / std::to_string(i));
    test::write_text(folder / std::to_string(i) / "1.json", texts[i]);
    EXPECT_FALSE(own.claim(std::to_string(i))) << texts[i].substr(0, 80);
  }
  wait(kShort * 2);
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_TRUE(own.claim(std::to_string(i))) << texts[i].substr(0, 80);
  }
}

TEST(Lease, IsLostWithItsFolder) {
  const test::TempFolder folder;
  Leases a(folder.path(), on_machine("a"), kLong);
  Leases b(folder.path(), on_machine("b"), kLong);
  std::optional<Lease> first = a.claim("x");
  test::remove_tree(folder / "x");
  const std::optional<Lease> second = b.claim("x");
  ASSERT_TRUE(second);
  EXPECT_FALSE(first->confirm());
  first.reset();
  EXPECT_TRUE(b.is_held("x"));
}

TEST(Lease, WaitingForItEndsWhenStopped) {
  const test::TempFolder folder;
  Leases a(folder.path(), on_machine("a"), kLong);
  const auto lease = a.claim("x");
  std::atomic<int> stop = 0;
  std::thread stopper([&] {
    wait(milliseconds(20));
    stop = 15;
  });
  EXPECT_FALSE(Leases(folder.path(), on_machine("b"), kLong).wait_for("x", stop));
  stopper.join();
}

/// What each of some takers gets that come at nearly the same, random moment.
std::vector<std::optional<Lease>> taken(const std::filesystem::path& folder, const std::string& name,
                                        const Holder& like, milliseconds patience, unsigned seed) {
  constexpr size_t kTakers = 6;
  std::vector<std::optional<Lease>> won(kTakers);
  std::vector<std::thread> takers;
  std::atomic<size_t> ready = 0;
  for (size_t i = 0; i < kTakers; ++i) {
    takers.emplace_back([&, i] {
      std::mt19937 random(seed * kTakers + static_cast<unsigned>(i));
      Holder holder = like;
      holder.token += std::to_string(i);
      Leases own(folder, holder, patience);
      ++ready;
      while (ready < kTakers) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 400));
      if (std::optional<Lease> lease = own.claim(name)) won[i].emplace(std::move(*lease));
    });
  }
  for (std::thread& taker : takers) taker.join();
  return won;
}

TEST(Lease, OfADeadHolderGoesToOneOfManyTakers) {
  const test::TempFolder folder;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  Holder dead = Holder::self();
  dead.pid = child;
  Leases gone(folder.path(), dead, kLong);
  for (unsigned round = 0; round < 25; ++round) {
    const std::string name = std::to_string(round);
    const auto before = gone.claim(name);
    const auto won = taken(folder.path(), name, Holder::self(), kLong, round);
    EXPECT_EQ(std::count_if(won.begin(), won.end(), [](const auto& one) { return one.has_value(); }), 1);
  }
}

TEST(Lease, OfImpatientTakersOnlyTheLastBelievesInIt) {
  const test::TempFolder folder;
  for (unsigned round = 0; round < 25; ++round) {
    auto won = taken(folder.path(), "x", on_machine("a"), milliseconds(0), round);
    int64_t believing = 0;
    for (auto& one : won) believing += one && one->confirm() ? 1 : 0;
    EXPECT_EQ(believing, 1);
  }
}

}  // namespace
}  // namespace hewn::sweep
