#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hewn::prune {

enum class Phase : uint8_t { kDense, kSparsification, kSparse };
std::string_view name_of(Phase phase);  // "DENSE", "SPARSIFICATION", "SPARSE"

/// A phase with its length as a fraction of all steps.
struct Share {
  Phase phase;
  double length;
};

/// A phase in steps: [begin, end).
struct PhaseSpan {
  Phase phase;
  int64_t begin;
  int64_t end;
};

/// What a schedule says of one step.
struct Moment {
  Phase phase = Phase::kDense;
  int64_t index = 0;    // number of the phase
  double progress = 0;  // in [0, 1): how much of the phase has passed before this step
};

/// The knobs that schedules share. Each reads those that concern it.
struct ScheduleOptions {
  std::optional<double> dense_fraction = {};  // share of the first DENSE phase, where not the schedule's own
  std::optional<int64_t> cycles = {};         // how many, where not the schedule's own number
  bool sparsification = true;                 // false: its share goes to sparse and dense equally
  std::array<double, 3> cycle = {1, 1, 1};    // parts of a cycle: sparsification, sparse, dense
};

/// A pure function of the step. Built from shares that add up to 1; boundaries are rounded to whole steps and
/// phases that round to nothing vanish.
class Schedule {
 public:
  Schedule(const std::vector<Share>& shares, int64_t steps);

  Moment at(int64_t step) const;
  const std::vector<PhaseSpan>& phases() const { return phases_; }
  int64_t steps() const { return phases_.back().end; }

 private:
  std::vector<PhaseSpan> phases_;
};

/// The schedule of that name over `steps` steps. Throws Error with the known names for an unknown one.
Schedule make_schedule(const std::string& name, const ScheduleOptions& options, int64_t steps);

struct ScheduleRow {
  std::string_view name;
  std::string_view help;
  std::vector<Share> (*shares)(const ScheduleOptions&);
};
const std::vector<ScheduleRow>& schedules();

/// How the active fraction falls during SPARSIFICATION.
enum class Ramp : uint8_t { kExponential, kPolynomial };

/// Sparsity at relative time t in [0, 1] on the way to `target`. Exponential: target (1-e^{-ct}) /
/// (1-e^{-c}), linear for c = 0 (paper, section on the SPARSIFICATION phase). Polynomial: target (1 -
/// (1-t)^c).
double ramp_sparsity(Ramp ramp, double c, double t, double target);

/// Training that alternates between sparse and dense, in shares of all steps: first and last phase, and
/// between them cycles, the last of which is extended.
struct Alternation {
  double dense;
  int64_t cycles;
  double length;  // of all cycles
  double extension;
  double sparse;
};
// The paper's two.
constexpr Alternation kImagenet{0.10, 7, 0.70, 0.05, 0.15};
constexpr Alternation kCtr{0.20, 10, 0.60, 0, 0.20};

/// The options' number of cycles, or the schedule's own. Throws Error below 1.
int64_t cycle_count(const ScheduleOptions& options, int64_t usual);
/// Gives the first DENSE phase the options' share, where they have one, and takes it from the cycles. Throws
/// Error where nothing would be left of them.
void lengthen_dense(const ScheduleOptions& options, double* dense, double* cycles);
/// Splits `length` into `count` cycles of sparsification, sparse and dense phases with the options' parts.
std::vector<Share> cycles(int64_t count, double length, const ScheduleOptions& options);
/// A SPARSIFICATION phase, or what replaces it when it is switched off.
std::vector<Share> final_ramp(double length, const ScheduleOptions& options);
void append(std::vector<Share>& shares, const std::vector<Share>& more);

}  // namespace hewn::prune
