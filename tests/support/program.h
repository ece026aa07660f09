#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <future>
#include <string>
#include <vector>

namespace hewn::test {

struct Outcome {
  int code = -1;  // exit code, or 128 + signal
  std::string out;
  std::string err;
  int64_t peak_kib = 0;  // of its memory
};

/// Runs the hewn program and waits for it. Output goes through files in a temporary folder.
Outcome hewn(const std::vector<std::string>& arguments);
/// The same with these bytes as its standard input.
Outcome hewn_fed(const std::string& input, const std::vector<std::string>& arguments);

/// Starts it now, in the folder and with the variables of this moment; its end is waited for elsewhere.
std::future<Outcome> hewn_started(const std::vector<std::string>& arguments);

/// Starts it, waits until `ready` says so, then for so many milliseconds, and kills it (SIGKILL). False: it
/// had ended before.
bool hewn_killed_when(const std::vector<std::string>& arguments, const std::function<bool()>& ready,
                      int milliseconds);

/// The same with any signal; the exit code, or 128 + signal.
int hewn_struck_when(const std::vector<std::string>& arguments, const std::function<bool()>& ready,
                     int milliseconds, int signal);

/// Starts it, sends it a signal once `ready` says so, and waits for its end.
Outcome hewn_signalled_when(const std::vector<std::string>& arguments, const std::function<bool()>& ready,
                            int signal);

}  // namespace hewn::test
