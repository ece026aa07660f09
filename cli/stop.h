#pragma once

#include <atomic>

#include "hewn/run/observer.h"

namespace hewn::cli {

/// The signal that asked the program to stop; 0: none did.
inline std::atomic<int> stop_signal = 0;

/// From now on the first SIGINT, SIGTERM or SIGHUP is written to stop_signal, and the same signal again ends
/// the program at once. Within a second the same counts as one, and another signal never as the second: a
/// terminal sends them to a program and to what started it, which passes them on.
void stop_on_signals();

/// What a program exits with that a signal has stopped.
int stopped_code();

/// Stops a run on these signals.
class StopOnSignals final : public run::Observer {
 public:
  StopOnSignals() { stop_on_signals(); }
  bool stop_requested() const override { return stop_signal != 0; }
};

}  // namespace hewn::cli
