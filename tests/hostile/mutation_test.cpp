// Every file that hewn reads, damaged in thousands of ways: what reads it does so, or says in one line of an
// Error what is wrong. Nothing else may be thrown, nothing may crash, hang or take much memory.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "tests/hostile/corpus.h"
#include "tests/hostile/mutate.h"

namespace hewn::test {
namespace {

constexpr uint64_t kSeed = 20240607;
constexpr unsigned kSeconds = 60;  // a case that takes longer is ended by SIGALRM: a hang
constexpr int64_t kMostKib = 1 << 20;

int64_t peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

struct Counts {
  int64_t accepted = 0;
  int64_t refused = 0;
};

std::string damaged(const Target& target, const std::string& content, Mutator& mutator) {
  if (!target.name.starts_with("forged")) return mutator.file(content);
  return Corpus::resealed(content, [&](const std::string& header) {
    Json json = Json::parse(header);
    // Half of the time inside a text of JSON in the header: a state, a graph, a list of blocks.
    std::vector<std::string> inside;
    for (const auto& [key, value] : json["__metadata__"].items()) {
      if (Json::parse(value.get<std::string>(), nullptr, false).is_structured()) inside.push_back(key);
    }
    if (!inside.empty() && mutator.below(2) == 0) {
      Json& text = json["__metadata__"][inside[mutator.below(inside.size())]];
      const Json changed = mutator.json(Json::parse(text.get<std::string>()));
      text = changed.dump(-1, ' ', false, Json::error_handler_t::replace);
      return json.dump();
    }
    return mutator.json(json).dump(-1, ' ', false, Json::error_handler_t::replace);
  });
}

/// One damaged file; "" where all is well.
std::string problem_of(const Target& target, const std::string& content, uint64_t seed, Counts& counts) {
  Mutator mutator(seed);
  write_text(target.file, damaged(target, content, mutator));
  std::string problem;
  alarm(kSeconds);
  try {
    target.read();
    ++counts.accepted;
  } catch (const Error& error) {
    ++counts.refused;
    if (std::string(error.what()).empty()) problem = "an empty message";
  } catch (const std::filesystem::filesystem_error&) {
    ++counts.refused;  // the program says it as it says an Error
  } catch (const std::exception& error) {
    problem = std::string("internal error: ") + error.what();
  }
  alarm(0);
  write_text(target.file, content);
  if (target.restore) target.restore();
  return problem.substr(0, problem.find('\n'));
}

void run_cases(int64_t cases) {
  const Corpus corpus;
  std::map<std::string, Counts> counts;
  int64_t bad = 0;
  // HEWN_HOSTILE=NAME/SEED repeats one case.
  const char* wanted = std::getenv("HEWN_HOSTILE");
  for (int64_t i = 0; i < cases; ++i) {
    const Target& target = corpus.targets()[static_cast<size_t>(i) % corpus.targets().size()];
    const uint64_t seed = kSeed + static_cast<uint64_t>(i);
    const std::string name = target.name + "/" + std::to_string(seed);
    if (wanted != nullptr && name != wanted) continue;
    if (wanted != nullptr || std::getenv("HEWN_HOSTILE_SHOW") != nullptr) std::cerr << name << std::endl;
    const std::string content = read_file(target.file);
    const std::string problem = problem_of(target, content, seed, counts[target.name]);
    if (!problem.empty() && ++bad <= 40) ADD_FAILURE() << name << ": " << problem;
  }
  for (const auto& [name, count] : counts)
    std::cerr << name << ": " << count.refused << " refused, " << count.accepted << " read\n";
  std::cerr << cases << " cases, " << bad << " problems, peak " << peak_kib() / 1024 << " MiB\n";
  EXPECT_EQ(bad, 0);
  EXPECT_LT(peak_kib(), kMostKib);
}

TEST(Mutations, WhatIsNotDamagedIsRead) {
  const Corpus corpus;
  for (const Target& target : corpus.targets()) {
    EXPECT_NO_THROW(target.read()) << target.name;
    if (target.restore) target.restore();
  }
}

TEST(Mutations, AFewOfEveryFileAreReadOrRefused) { run_cases(150); }

TEST(Mutations, SlowThousandsOfEveryFileAreReadOrRefused) { run_cases(6000); }

}  // namespace
}  // namespace hewn::test
