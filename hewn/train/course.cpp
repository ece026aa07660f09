#include <algorithm>

#include "hewn/train/loop.h"

namespace hewn::train {

run::Course course_of(const prune::Schedule& schedule, const LoopOptions& options, const data::Source& source,
                      int64_t step) {
  run::Course out;
  out.step = step;
  out.steps = options.steps;
  for (const prune::PhaseSpan& span : schedule.phases()) {
    out.left[static_cast<size_t>(span.phase)] += std::max<int64_t>(0, span.end - std::max(step, span.begin));
  }
  const int64_t every = options.eval_every;
  // The last step is always followed by one, and the finished network by another.
  out.evaluations = (options.steps - 1) / every - step / every + 2;
  out.evaluation_size =
      static_cast<double>(source.info().test_size) / static_cast<double>(std::max<int64_t>(1, options.batch));
  if (options.later) {
    out.another = true;
    for (size_t phase = 0; phase < out.left.size(); ++phase) out.left[phase] += options.later->left[phase];
    out.evaluations += options.later->evaluations;
  }
  return out;
}

}  // namespace hewn::train
