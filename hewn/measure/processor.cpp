#include "hewn/measure/processor.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace hewn::measure {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  }
  return "unknown processor";
}

Waits waits_of_threads() {
  Waits out;
  std::error_code none;  // threads may end while they are listed, and other systems have no such folder
  const std::filesystem::directory_iterator threads("/proc/self/task", none);
  for (auto thread = begin(threads); !none && thread != end(threads); thread.increment(none)) {
    std::ifstream file(thread->path() / "schedstat");
    double ran_ns = 0;
    double waited_ns = 0;
    if (file >> ran_ns >> waited_ns) out[thread->path().filename().string()] = 1e-6 * waited_ns;
  }
  return out;
}

double longest_wait(const Waits& before, const Waits& after) {
  double longest = 0;
  for (const auto& [thread, waited] : after) {
    const auto earlier = before.find(thread);
    longest = std::max(longest, waited - (earlier == before.end() ? 0 : earlier->second));
  }
  return longest;
}

}  // namespace hewn::measure
