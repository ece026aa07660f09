#include "hewn/measure/processor.h"

#include <algorithm>
#include <fstream>

namespace hewn::measure {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  }
  return "unknown processor";
}

}  // namespace hewn::measure
