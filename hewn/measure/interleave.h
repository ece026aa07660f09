#pragma once

#include <functional>
#include <string>
#include <vector>

namespace hewn::measure {

enum class Clock { kThreadCpu, kWall };

/// With one thread its CPU time is the quieter clock; with several only the wall clock counts them all.
inline Clock clock_for(int64_t threads) { return threads == 1 ? Clock::kThreadCpu : Clock::kWall; }
std::string to_string(Clock clock);
/// Milliseconds since some moment.
double now_ms(Clock clock);

struct Contender {
  std::string name;
  std::function<void()> run;
};

/// A median with its quartiles.
struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;
};
Spread spread_of(std::vector<double> values);

struct Timing {
  std::string name;
  int64_t repetitions = 1;       // calls in one slot
  std::vector<double> round_ms;  // per round: milliseconds of one call
  /// Per round: the longest that a thread waited for a processor, over the time of the slot. Rounds beyond
  /// the last entry did not wait; by the clock of thread CPU time none does.
  std::vector<double> waiting = {};

  /// Whether other programs left the processors alone in that round.
  bool calm(size_t round) const;
  int64_t calm_rounds() const;
  /// Of the calm rounds, or of all where none was.
  double median_ms() const;
};

/// Ratios of two timings of one interleave, round by round: what slows the machine down slows both. Those in
/// which both were calm, or all where there are none.
Spread ratio(const Timing& of, const Timing& to);

struct Turns {
  int64_t rounds = 15;
  Clock clock = Clock::kThreadCpu;
  double slot_ms = 4;   // a slot repeats its call until it lasts about this long; 0: one call
  double limit_ms = 0;  // no round begins after a contender has spent this long; 0: all rounds
  bool warm_up = true;  // one call before those that count; false: all have run before
};

/// Runs the contenders in turn, round by round, so that a machine that slows down slows them all.
std::vector<Timing> interleave(const std::vector<Contender>& contenders, const Turns& turns);

/// As many rounds again, behind those that `timings` of the same contenders has.
void go_on(const std::vector<Contender>& contenders, const Turns& turns, std::vector<Timing>& timings);

}  // namespace hewn::measure
