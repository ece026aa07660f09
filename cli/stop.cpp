#include "cli/stop.h"

#include <csignal>
#include <ctime>

namespace hewn::cli {
namespace {

constexpr int64_t kOneRequest = 1'000'000'000;  // nanoseconds

std::atomic<int64_t> first_signal_at = 0;

int64_t nanoseconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);  // may be called in a handler
  return int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

void take_signal(int number) {
  const int64_t now = nanoseconds();
  if (stop_signal == 0) {
    first_signal_at = now;
    stop_signal = number;
  } else if (number == stop_signal && now - first_signal_at > kOneRequest) {
    // Blocked until this handler returns.
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
}

}  // namespace

void stop_on_signals() {
  struct sigaction action = {};
  action.sa_handler = take_signal;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    ::sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(number, &action, nullptr);  // nohup stays in force
  }
}

int stopped_code() { return 128 + (stop_signal != 0 ? stop_signal.load() : SIGTERM); }

}  // namespace hewn::cli
