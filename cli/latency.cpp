#include "cli/latency.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "cli/table.h"
#include "hewn/core/error.h"

namespace hewn::cli {
namespace {

// Until caches, branch predictors and the clock rate have settled.
constexpr double kWarmUpMilliseconds = 100;
constexpr size_t kBins = 12;
constexpr int64_t kBar = 40;

double milliseconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

}  // namespace

Latency Latency::measure(int64_t calls, bool by_clock, const std::function<void()>& body) {
  const clockid_t clock = by_clock ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
  const double start = milliseconds_of(clock);
  do {
    body();
  } while (milliseconds_of(clock) - start < kWarmUpMilliseconds);
  std::vector<double> times(static_cast<size_t>(calls));
  for (double& time : times) {
    const double begin = milliseconds_of(clock);
    body();
    time = milliseconds_of(clock) - begin;
  }
  return Latency(std::move(times));
}

Latency::Latency(std::vector<double> milliseconds) : sorted_(std::move(milliseconds)) {
  std::sort(sorted_.begin(), sorted_.end());
}

double Latency::at(double share) const {
  const double within = std::ceil(share * static_cast<double>(sorted_.size()));
  return sorted_[static_cast<size_t>(std::max(within, 1.0)) - 1];
}

/// Equal stretches up to p99, and one for what took longer: a few long calls would flatten all others.
std::vector<Latency::Bin> Latency::histogram() const {
  const double least = sorted_.front();
  const double width = std::max((at(0.99) - least) / kBins, 1e-6);
  std::vector<Bin> bins;
  auto next = sorted_.begin();
  for (size_t i = 0; i <= kBins; ++i) {
    const bool rest = i == kBins;
    const double from = least + static_cast<double>(i) * width;
    const double to = rest ? std::max(sorted_.back(), from) : from + width;
    const auto end = rest ? sorted_.end() : std::lower_bound(next, sorted_.end(), to);
    bins.push_back({from, to, end - next});
    next = end;
  }
  return bins;
}

Json Latency::to_json() const {
  Json bins = Json::array();
  for (const Bin& bin : histogram())
    bins.push_back({{"from_ms", bin.from}, {"to_ms", bin.to}, {"calls", bin.calls}});
  return {{"calls", sorted_.size()}, {"p50", at(0.5)},        {"p95", at(0.95)},
          {"p99", at(0.99)},         {"max", sorted_.back()}, {"histogram", bins}};
}

std::string Latency::text() const {
  std::string out = str(sorted_.size(), " calls: p50 ", fixed(at(0.5), 3), " ms, p95 ", fixed(at(0.95), 3),
                        ", p99 ", fixed(at(0.99), 3), " (", fixed(at(0.99) / std::max(at(0.5), 1e-9), 2),
                        " of p50), longest ", fixed(sorted_.back(), 3), "\n");
  const std::vector<Bin> bins = histogram();
  int64_t most = 1;
  for (const Bin& bin : bins) most = std::max(most, bin.calls);
  for (const Bin& bin : bins) {
    const int64_t length = (bin.calls * kBar + most - 1) / most;
    out += str("  ", fixed(bin.from, 3), " to ", fixed(bin.to, 3), "  ",
               std::string(static_cast<size_t>(length), '#'), " ", bin.calls, "\n");
  }
  return out;
}

}  // namespace hewn::cli
