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

/// Calls that fill a slot. The first call pays for pages, plans and caches, so the second one is timed.
int64_t repetitions_for(const Contender& contender, const Turns& turns) {
  contender.run();
  if (turns.slot_ms <= 0) return 1;
  const double once = std::max(slot(contender, 1, turns.clock), 1e-6);
  return static_cast<int64_t>(std::clamp(std::round(turns.slot_ms / once), 1.0, kMostRepetitions));
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
  for (const Contender& contender : contenders) {
    out.push_back({contender.name, repetitions_for(contender, turns), {}});
  }
  for (int64_t round = 0; round < turns.rounds; ++round) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      out[i].round_ms.push_back(slot(contenders[i], out[i].repetitions, turns.clock));
    }
  }
  return out;
}

}  // namespace hewn::measure
