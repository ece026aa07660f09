#include "hewn/deploy/gpu/turns.h"

#include <algorithm>
#include <cmath>

#include "hewn/tensor/recording.h"

namespace hewn::deploy {
namespace {

constexpr double kSlotMs = 4;  // of one way in one round
constexpr double kMostCalls = 60;
constexpr int64_t kLeastRounds = 3;
constexpr double kLimitMs = 4000;  // of one way, as far as the least rounds allow

class RecordedWork {
 public:
  explicit RecordedWork(const GpuWork& work) {
    for (size_t set = 0; set < kInputSets; ++set) recordings_.emplace_back([&] { work.run(set); });
  }
  double ms(int64_t calls, int64_t round) const {
    const auto replay = [&] {
      for (int64_t i = 0; i < calls; ++i) recordings_[static_cast<size_t>(round + i) % kInputSets].replay();
    };
    return tensor::device_ms(replay) / static_cast<double>(calls);
  }

 private:
  std::vector<tensor::Recording> recordings_;
};

}  // namespace

std::vector<measure::Timing> take_turns(const std::vector<GpuWork>& ways, int64_t rounds) {
  std::vector<RecordedWork> recorded;
  for (const GpuWork& way : ways) recorded.emplace_back(way);
  std::vector<measure::Timing> timings;
  double slowest = 0;
  for (size_t i = 0; i < ways.size(); ++i) {
    const double once = recorded[i].ms(static_cast<int64_t>(kInputSets), 0);
    const auto calls = static_cast<int64_t>(std::clamp(std::ceil(kSlotMs / once), 1.0, kMostCalls));
    timings.push_back({ways[i].name, calls, {}});
    slowest = std::max(slowest, once * static_cast<double>(calls));
  }
  const int64_t fitting = std::max(kLeastRounds, static_cast<int64_t>(kLimitMs / slowest));
  for (int64_t round = 0; round < std::min(rounds, fitting); ++round) {
    for (size_t i = 0; i < ways.size(); ++i) {
      timings[i].round_ms.push_back(recorded[i].ms(timings[i].repetitions, round));
    }
  }
  return timings;
}

}  // namespace hewn::deploy
