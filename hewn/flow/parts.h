#pragma once

#include <memory>
#include <vector>

#include "hewn/flow/plan.h"

namespace hewn::flow {

/// As many threads as have enough to do with so many multiply-adds.
int enough_threads(int64_t work, int threads);

/// All steps, or without those that bring row-major inputs into planes, and outputs out of them.
enum class Route : uint8_t { kAll, kOnPlanes };

/// A plan for some samples of a batch, or for all, and memory for as many threads as run it side by side.
struct Part {
  Plan plan;
  std::vector<std::shared_ptr<std::byte>> arenas;
  std::vector<std::vector<const void*>> inputs;  // of each

  /// Has memory for so many places. Allocates nothing the second time.
  void prepare(size_t places, size_t input_count);
  /// In the memory of one place, on so many threads.
  void run(size_t place, int threads, Route route);
};

/// Inputs and outputs, cut into samples; one where they are not.
struct Batch {
  const std::vector<Tensor>& inputs;
  std::vector<Tensor>& outputs;
  size_t samples;
  Route route = Route::kAll;

  /// Runs a part on the samples from `first` on.
  void run(Part& part, size_t place, size_t first, int threads) const;
  /// The same on one thread; adds to what every step took before, or begins with that.
  void profile(Part& part, size_t first, std::vector<StepTime>& times) const;

 private:
  void point_at_samples(Part& part, size_t place, size_t first) const;
};

}  // namespace hewn::flow
