#include "hewn/flow/parts.h"

#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <new>

namespace hewn::flow {
namespace {

constexpr size_t kHugePage = size_t{1} << 21;

std::shared_ptr<std::byte> allocate_arena(size_t bytes) {
  const size_t alignment = bytes >= kHugePage ? kHugePage : 64;
  const size_t whole = (bytes + alignment) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, whole);
  if (memory == nullptr) throw std::bad_alloc();
  if (alignment == kHugePage) madvise(memory, whole, MADV_HUGEPAGE);  // only a wish
  std::memset(memory, 0, whole);
  return {static_cast<std::byte*>(memory), [](std::byte* old) { std::free(old); }};
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

// A thread's share of a step should take longer than waiting for the others.
int enough_threads(int64_t work, int threads) {
  constexpr double kShare = 2e6;  // multiply-adds
  return static_cast<int>(std::clamp(static_cast<double>(work) / kShare, 1.0, static_cast<double>(threads)));
}

void Part::prepare(size_t places, size_t input_count) {
  while (arenas.size() < places) {
    const size_t more = arenas.size() + 1;
    inputs.resize(more, std::vector<const void*>(input_count));
    for (const Step& step : plan.steps) {
      if (step.prepare) step.prepare(more);
    }
    arenas.push_back(allocate_arena(plan.bytes));
  }
}

void Part::run(size_t place, int threads, Route route) {
  const Memory memory(plan, place, arenas[place].get(), inputs[place]);
  const int team = enough_threads(plan.work, threads);
  const auto left_out = [route](const Step& step) { return step.converts && route == Route::kOnPlanes; };
  if (team == 1) {
    for (const Step& step : plan.steps) {
      if (!left_out(step)) step.run(memory, 0, 1);
    }
    return;
  }
  std::exception_ptr failure;
#pragma omp parallel num_threads(team)
  {
    const int64_t self = omp_get_thread_num();
    const int64_t parts = omp_get_num_threads();
    for (const Step& step : plan.steps) {
      if (left_out(step)) continue;
      try {
        if (step.divides) {
          step.run(memory, self, parts);
        } else if (self == 0 && !failure) {
          step.run(memory, 0, 1);
        }
      } catch (...) {
#pragma omp critical
        failure = std::current_exception();
      }
#pragma omp barrier
    }
  }
  if (failure) std::rethrow_exception(failure);
}

void Batch::point_at_samples(Part& part, size_t place, size_t first) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    part.inputs[place][i] = inputs[i].bytes() + inputs[i].byte_count() / samples * first;
  }
}

void Batch::profile(Part& part, size_t first, std::vector<StepTime>& times) const {
  part.prepare(1, inputs.size());
  point_at_samples(part, 0, first);
  const Memory memory(part.plan, 0, part.arenas[0].get(), part.inputs[0]);
  for (const Step& step : part.plan.steps) {
    const double begin = thread_seconds();
    step.run(memory, 0, 1);
    const double seconds = thread_seconds() - begin;
    auto at = std::find_if(times.begin(), times.end(),
                           [&](const StepTime& time) { return time.what == step.what; });
    if (at == times.end()) at = times.insert(at, {step.what});
    at->work += step.work;
    at->seconds += seconds;
  }
}

void Batch::run(Part& part, size_t place, size_t first, int threads) const {
  point_at_samples(part, place, first);
  part.run(place, threads, route);
  if (route == Route::kOnPlanes) return;
  const Memory memory(part.plan, place, part.arenas[place].get(), part.inputs[place]);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Spec& spec = part.plan.output_specs[i];
    const size_t bytes = static_cast<size_t>(spec.elements()) * size_of(spec.type);
    std::memcpy(outputs[i].bytes() + outputs[i].byte_count() / samples * first,
                memory.at(part.plan.outputs[i]), bytes);
  }
}

}  // namespace hewn::flow
