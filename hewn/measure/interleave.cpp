#include "hewn/measure/interleave.h"

#include <ctime>

#include <algorithm>
#include <cmath>

#include "hewn/measure/processor.h"

namespace hewn::measure {
namespace {

constexpr double kMostRepetitions = 100000;
constexpr double kCalm = 0.05;  // share of a slot that a thread may wait
constexpr int kMostTries = 5;

struct Slot {
  double ms = 0;  // of one call
  double waiting = 0;
};

Slot run_slot(const Contender& contender, int64_t repetitions, Clock clock) {
  const bool wall = clock == Clock::kWall;
  const Waits before = wall ? waits_of_threads() : Waits();
  const double begin = now_ms(clock);
  for (int64_t i = 0; i < repetitions; ++i) contender.run();
  const double spent = now_ms(clock) - begin;
  const double waited = wall ? longest_wait(before, waits_of_threads()) : 0;
  return {spent / static_cast<double>(repetitions), waited / std::max(spent, 1e-6)};
}

void add(const Slot& slot, Timing& timing) {
  timing.waiting.resize(timing.round_ms.size());
  timing.round_ms.push_back(slot.ms);
  timing.waiting.push_back(slot.waiting);
}

/// Finds out how many calls fill a slot; one that fills it alone is the first round.
Timing first_turn(const Contender& contender, const Turns& turns) {
  // The first call pays for pages, plans and caches.
  if (turns.warm_up) contender.run();
  Timing timing{contender.name, 1, {}, {}};
  Slot once = run_slot(contender, 1, turns.clock);
  // A disturbed call looks long; a slot of too few calls would then time how threads wake up.
  for (int tries = 1; tries < kMostTries && turns.slot_ms > 0 && once.waiting > kCalm; ++tries) {
    const Slot again = run_slot(contender, 1, turns.clock);
    if (again.ms < once.ms) once = again;
  }
  const double fitting = turns.slot_ms / std::max(once.ms, 1e-6);
  timing.repetitions = static_cast<int64_t>(std::clamp(std::round(fitting), 1.0, kMostRepetitions));
  if (timing.repetitions == 1) add(once, timing);
  return timing;
}

/// The longest that a contender has taken so far.
double longest_ms(const std::vector<Timing>& timings) {
  double longest = 0;
  for (const Timing& timing : timings) {
    double spent = 0;
    for (const double ms : timing.round_ms) spent += ms * static_cast<double>(timing.repetitions);
    longest = std::max(longest, spent);
  }
  return longest;
}

/// Rounds up to `rounds` in all.
void fill_rounds(const std::vector<Contender>& contenders, const Turns& turns, size_t rounds,
                 std::vector<Timing>& timings) {
  for (size_t round = 0; round < rounds; ++round) {
    if (round > 0 && turns.limit_ms > 0 && longest_ms(timings) >= turns.limit_ms) break;
    for (size_t i = 0; i < contenders.size(); ++i) {
      if (timings[i].round_ms.size() > round) continue;
      add(run_slot(contenders[i], timings[i].repetitions, turns.clock), timings[i]);
    }
  }
}

}  // namespace

double now_ms(Clock clock) {
  timespec t{};
  clock_gettime(clock == Clock::kThreadCpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

std::string to_string(Clock clock) { return clock == Clock::kThreadCpu ? "thread CPU time" : "wall clock"; }

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double q) {
    return values[static_cast<size_t>(std::lround(q * static_cast<double>(values.size() - 1)))];
  };
  return {quantile(0.5), quantile(0.25), quantile(0.75)};
}

bool Timing::calm(size_t round) const { return round >= waiting.size() || waiting[round] <= kCalm; }

int64_t Timing::calm_rounds() const {
  int64_t count = 0;
  for (size_t i = 0; i < round_ms.size(); ++i) count += calm(i) ? 1 : 0;
  return count;
}

double Timing::median_ms() const {
  std::vector<double> calm_ms;
  for (size_t i = 0; i < round_ms.size(); ++i) {
    if (calm(i)) calm_ms.push_back(round_ms[i]);
  }
  return spread_of(calm_ms.empty() ? round_ms : calm_ms).median;
}

Spread ratio(const Timing& of, const Timing& to) {
  std::vector<double> all;
  std::vector<double> calm;
  for (size_t i = 0; i < of.round_ms.size(); ++i) {
    all.push_back(of.round_ms[i] / to.round_ms[i]);
    if (of.calm(i) && to.calm(i)) calm.push_back(all.back());
  }
  return spread_of(std::move(calm.empty() ? all : calm));
}

std::vector<Timing> interleave(const std::vector<Contender>& contenders, const Turns& turns) {
  std::vector<Timing> out;
  for (const Contender& contender : contenders) out.push_back(first_turn(contender, turns));
  fill_rounds(contenders, turns, static_cast<size_t>(turns.rounds), out);
  return out;
}

void go_on(const std::vector<Contender>& contenders, const Turns& turns, std::vector<Timing>& timings) {
  const size_t before = timings.empty() ? 0 : timings.front().round_ms.size();
  fill_rounds(contenders, turns, before + static_cast<size_t>(turns.rounds), timings);
}

}  // namespace hewn::measure
