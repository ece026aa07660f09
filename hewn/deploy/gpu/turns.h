#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hewn/measure/interleave.h"

namespace hewn::deploy {

/// Inputs that timed work rotates among, so that none stays in the cache.
inline constexpr size_t kInputSets = 3;

/// Work on a GPU that reads one of these sets.
struct GpuWork {
  std::string name;
  std::function<void(size_t set)> run;
};

/// Records each way as CUDA graphs, one for every set, and times them in turns by the GPU's clock: fewer
/// `rounds`, three at least, where one takes long. The current stream must be one that can be recorded.
std::vector<measure::Timing> take_turns(const std::vector<GpuWork>& ways, int64_t rounds);

}  // namespace hewn::deploy
