#include "bench/support/interleave.h"

#include <ctime>

#include <algorithm>
#include <cmath>

namespace hewn::bench {
namespace {

double now_ms(Clock clock) {
  timespec t{};
  clock_gettime(clock == Clock::kThreadCpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(std::lround(q * static_cast<double>(values.size() - 1)))];
}

}  // namespace

std::vector<Timing> interleave(const std::vector<Contender>& contenders, int rounds, Clock clock) {
  std::vector<std::vector<double>> times(contenders.size());
  for (int round = -1; round < rounds; ++round) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      const double before = now_ms(clock);
      contenders[i].run();
      const double spent = now_ms(clock) - before;
      if (round >= 0) times[i].push_back(spent);
    }
  }
  std::vector<Timing> out;
  for (size_t i = 0; i < contenders.size(); ++i) {
    std::vector<double> ratios;
    for (size_t r = 0; r < times[i].size(); ++r) ratios.push_back(times[i][r] / times[0][r]);
    out.push_back({contenders[i].name, quantile(times[i], 0.5), quantile(ratios, 0.5), quantile(ratios, 0.25),
                   quantile(ratios, 0.75)});
  }
  return out;
}

}  // namespace hewn::bench
