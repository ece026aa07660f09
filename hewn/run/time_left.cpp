#include "hewn/run/time_left.h"

#include <algorithm>

namespace hewn::run {
namespace {

constexpr int64_t kMemory = 1000;            // steps
constexpr double kAsOthers = 10;             // steps that a new phase is thought to have had, like all others
constexpr double kForwardShare = 1.0 / 3.0;  // of a step's time, as backward costs twice as much

}  // namespace

void TimeLeft::Mean::add(double seconds) {
  count = std::min(count + 1, kMemory);
  value += (seconds - value) / static_cast<double>(count);
}

void TimeLeft::begin(const Course& course, double now) {
  course_ = course;
  warm_ = false;
  mark_ = now;
}

void TimeLeft::step(prune::Phase phase, double now) {
  const auto number = static_cast<size_t>(phase);
  if (warm_) steps_[number].add(now - mark_);
  warm_ = true;
  mark_ = now;
  course_.left[number] = std::max<int64_t>(0, course_.left[number] - 1);
}

void TimeLeft::evaluated(double now) {
  evaluations_.add(now - mark_);
  mark_ = now;
  course_.evaluations = std::max<int64_t>(0, course_.evaluations - 1);
}

double TimeLeft::step_seconds() const {
  double sum = 0;
  double count = 0;
  for (const Mean& mean : steps_) {
    sum += mean.value * static_cast<double>(mean.count);
    count += static_cast<double>(mean.count);
  }
  return count == 0 ? 0 : sum / count;
}

std::optional<double> TimeLeft::seconds() const {
  const double usual = step_seconds();
  if (usual <= 0) return std::nullopt;
  double out = 0;
  for (size_t phase = 0; phase < steps_.size(); ++phase) {
    const auto seen = static_cast<double>(steps_[phase].count);
    const double mean = (seen * steps_[phase].value + kAsOthers * usual) / (seen + kAsOthers);
    out += mean * static_cast<double>(course_.left[phase]);
  }
  const double evaluation =
      evaluations_.count > 0 ? evaluations_.value : kForwardShare * usual * course_.evaluation_size;
  return out + evaluation * static_cast<double>(course_.evaluations);
}

}  // namespace hewn::run
