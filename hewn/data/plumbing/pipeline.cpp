#include "hewn/data/plumbing/pipeline.h"

#include <sched.h>

#include <algorithm>

namespace hewn::data {

size_t processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return std::max(1U, std::thread::hardware_concurrency());
  return static_cast<size_t>(std::max(1, CPU_COUNT(&set)));
}

}  // namespace hewn::data
