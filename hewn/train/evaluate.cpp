#include "hewn/train/evaluate.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>

#include "hewn/run/stopped.h"
#include "hewn/train/tasks/task.h"

namespace hewn::train {

bool anyone(bool says, dist::Communicator& group) {
  if (group.place().alone()) return says;
  const at::Tensor count =
      at::full({1}, int64_t{says ? 1 : 0}, at::TensorOptions(group.device()).dtype(at::kLong));
  group.sum(count);
  return count.item<int64_t>() > 0;
}

run::Metrics evaluate(nn::Model& model, data::Source& source, dist::Communicator& group,
                      run::Observer& observer) {
  const at::NoGradGuard no_grad;
  // Normalisation layers have seen other batches on every process; rank 0's statistics count.
  for (const at::Tensor& buffer : model.buffers()) group.broadcast(buffer);
  model.eval();
  const auto meter = make_task(source.info().kind, 0, source.info().target_scale)->meter();
  const dist::Place& place = group.place();
  const int64_t begin = source.test_batches() * place.rank / place.size;
  const int64_t end = source.test_batches() * (place.rank + 1) / place.size;
  bool stop = false;
  for (int64_t i = begin; i < end && !stop; ++i) {
    observer.on_evaluating(i - begin, end - begin);
    const data::Batch batch = source.test_batch(i);
    meter->add(model.forward(batch.input), batch.target);
    stop = observer.stop_requested();
  }
  model.train();
  if (anyone(stop, group)) throw run::Stopped("stopped in an evaluation");
  meter->combine(group);
  run::Metrics metrics = meter->result();
  observer.on_evaluating(end - begin, end - begin);
  return metrics;
}

}  // namespace hewn::train
