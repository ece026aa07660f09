#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace hewn::test {

struct Outcome {
  int code = -1;  // exit code, or 128 + signal
  std::string out;
  std::string err;
};

/// Runs the hewn program and waits for it. Output goes through files in a temporary folder.
Outcome hewn(const std::vector<std::string>& arguments);

/// Starts it and kills it (SIGKILL) after so many milliseconds unless it has ended before. True: it was killed.
bool hewn_killed_after(const std::vector<std::string>& arguments, int milliseconds);

}  // namespace hewn::test
