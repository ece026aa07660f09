#include "hewn/measure/interleave.h"

#include <ctime>

#include <algorithm>
#include <cmath>

namespace hewn::measure {
namespace {

constexpr double kMostRepetitions = 100000;

double now_ms(Clock clock) {
  timespec t{};
  clock_gettime(clock == Clock::kThreadCpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

/// Milliseconds of one call, out of `repetitions`.
double slot(const Contender& contender, int64_t repetitions, Clock clock) {
  const double before = now_ms(clock);
  for (int64_t i = 0; i < repetitions; ++i) contender.run();
  return (now_ms(clock) - before) / static_cast<double>(repetitions);
}

/// Finds out how many calls fill a slot; one that fills it alone is the first round.
Timing first_turn(const Contender& contender, const Turns& turns) {
  // The first call pays for pages, plans and caches.
  if (turns.warm_up) contender.run();
  Timing timing{contender.name, 1, {}};
  const double once = slot(contender, 1, turns.clock);
  const double fitting = turns.slot_ms / std::max(once, 1e-6);
  timing.repetitions = static_cast<int64_t>(std::clamp(std::round(fitting), 1.0, kMostRepetitions));
  if (timing.repetitions == 1) timing.round_ms.push_back(once);
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

}  // namespace

std::string to_string(Clock clock) { return clock == Clock::kThreadCpu ? "thread CPU time" : "wall clock"; }

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double q) {
    return values[static_cast<size_t>(std::lround(q * static_cast<double>(values.size() - 1)))];
  };
  return {quantile(0.5), quantile(0.25), quantile(0.75)};
}

Spread ratio(const Timing& of, const Timing& to) {
  std::vector<double> ratios;
  for (size_t i = 0; i < of.round_ms.size(); ++i) ratios.push_back(of.round_ms[i] / to.round_ms[i]);
  return spread_of(std::move(ratios));
}

std::vector<Timing> interleave(const std::vector<Contender>& contenders, const Turns& turns) {
  std::vector<Timing> out;
  for (const Contender& contender : contenders) out.push_back(first_turn(contender, turns));
  for (size_t round = 0; round < static_cast<size_t>(turns.rounds); ++round) {
    if (round > 0 && turns.limit_ms > 0 && longest_ms(out) >= turns.limit_ms) break;
    for (size_t i = 0; i < contenders.size(); ++i) {
      if (out[i].round_ms.size() > round) continue;
      out[i].round_ms.push_back(slot(contenders[i], out[i].repetitions, turns.clock));
    }
  }
  return out;
}

}  // namespace hewn::measure
