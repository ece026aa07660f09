#include "hewn/prune/schedule/schedule.h"

#include <algorithm>
#include <cmath>

#include "hewn/core/error.h"
#include "hewn/core/table.h"

namespace hewn::prune {

#define HEWN_SCHEDULE(function, name, help) std::vector<Share> function(const ScheduleOptions&);
#include "hewn/prune/schedule/schedules.def"
#undef HEWN_SCHEDULE

const std::vector<ScheduleRow>& schedules() {
  static const std::vector<ScheduleRow> kRows = {
#define HEWN_SCHEDULE(function, name, help) {name, help, function},
#include "hewn/prune/schedule/schedules.def"
#undef HEWN_SCHEDULE
  };
  return kRows;
}

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::kDense:
      return "DENSE";
    case Phase::kSparsification:
      return "SPARSIFICATION";
    case Phase::kSparse:
      return "SPARSE";
  }
  return "?";
}

Schedule::Schedule(const std::vector<Share>& shares, int64_t steps) {
  if (steps < 1) throw Error(str("schedule: expected at least one step, got ", steps));
  double total = 0;
  for (const Share& share : shares) total += share.length;
  if (std::abs(total - 1) > 1e-9) throw Error(str("schedule: shares add up to ", total, ", expected 1"));
  double passed = 0;
  int64_t begin = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    passed += shares[i].length;
    const int64_t end = i + 1 == shares.size() ? steps : std::llround(passed * static_cast<double>(steps));
    if (end > begin) phases_.push_back({shares[i].phase, begin, end});
    begin = std::max(begin, end);
  }
}

Moment Schedule::at(int64_t step) const {
  const auto next = std::upper_bound(phases_.begin(), phases_.end(), step,
                                     [](int64_t s, const PhaseSpan& span) { return s < span.end; });
  const auto span = next == phases_.end() ? phases_.end() - 1 : next;
  const double progress =
      static_cast<double>(step - span->begin) / static_cast<double>(span->end - span->begin);
  return {span->phase, span - phases_.begin(), std::clamp(progress, 0.0, 1.0)};
}

Schedule make_schedule(const std::string& name, const ScheduleOptions& options, int64_t steps) {
  return {find_row(schedules(), name, "schedule").shares(options), steps};
}

double ramp_sparsity(Ramp ramp, double c, double t, double target) {
  if (ramp == Ramp::kPolynomial) return target * (1 - std::pow(1 - t, c));
  if (std::abs(c) < 1e-9) return target * t;
  return target * std::expm1(-c * t) / std::expm1(-c);
}

std::vector<Share> final_ramp(double length, const ScheduleOptions& options) {
  if (options.sparsification) return {{Phase::kSparsification, length}};
  return {{Phase::kSparse, length / 2}, {Phase::kDense, length / 2}};
}

int64_t cycle_count(const ScheduleOptions& options, int64_t usual) {
  const int64_t count = options.cycles.value_or(usual);
  if (count < 1) throw Error(str("cycles: expected at least 1, got ", count));
  return count;
}

void lengthen_dense(const ScheduleOptions& options, double* dense, double* cycles) {
  const double both = *dense + *cycles;
  *dense = options.dense_fraction.value_or(*dense);
  *cycles = both - *dense;
  if (*dense < 0 || *cycles <= 0) {
    throw Error(str("dense-fraction: expected a number in [0, ", both, ") for this schedule, got ", *dense));
  }
}

std::vector<Share> cycles(int64_t count, double length, const ScheduleOptions& options) {
  auto [ramp, sparse, dense] = options.cycle;
  if (ramp < 0 || sparse < 0 || dense < 0 || ramp + sparse + dense <= 0) {
    throw Error("cycle: expected three parts that are not negative and not all zero, such as 1,1,1");
  }
  if (!options.sparsification) {
    sparse += ramp / 2;
    dense += ramp / 2;
    ramp = 0;
  }
  const double unit = length / static_cast<double>(std::max<int64_t>(count, 1)) / (ramp + sparse + dense);
  std::vector<Share> out;
  for (int64_t i = 0; i < count; ++i) {
    if (ramp > 0) out.push_back({Phase::kSparsification, ramp * unit});
    out.push_back({Phase::kSparse, sparse * unit});
    out.push_back({Phase::kDense, dense * unit});
  }
  return out;
}

void append(std::vector<Share>& shares, const std::vector<Share>& more) {
  shares.insert(shares.end(), more.begin(), more.end());
}

}  // namespace hewn::prune
