#include "hewn/train/workshop.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/nn/batch_norm.h"
#include "hewn/nn/trace.h"
#include "hewn/run/recipe.h"
#include "hewn/tensor/device.h"
#include "hewn/train/init.h"
#include "hewn/train/network.h"
#include "hewn/train/open_data.h"
#include "hewn/train/ranks/same_ranks.h"
#include "hewn/train/teacher.h"

namespace hewn::train {
namespace {

void synchronise_norms(const Workshop& shop) {
  const nn::SumOverProcesses sum = [with = shop.group](const at::Tensor& tensor) { with->sum(tensor); };
  const bool several = !shop.group->place().alone();
  if (nn::synchronise_batch_norm(*shop.model, several ? sum : nullptr) == 0) {
    throw Error(hewn::str("sync-batch-norm: model ", shop.options.model, " has no batch-norm layers"));
  }
}

/// The weights that the run begins with, and with --keep-support the blocks.
void load_init(Workshop& shop, run::Observer& observer) {
  run::Options& options = shop.options;
  const tensor::TensorFile file = load_weights(*shop.model, options.init, options.init_skip);
  if (!file.note.empty()) observer.on_message(hewn::str(options.init, ": ", file.note));
  if (!options.keep_support) return;
  observer.on_message(hewn::str(options.init, ": ", keep_support(*shop.model, file, options)));
}

std::map<std::string, int64_t> positions_of(const std::vector<nn::LayerUse>& uses) {
  std::map<std::string, int64_t> out;
  for (const nn::LayerUse& use : uses) out[use.name] = use.positions();
  return out;
}

/// Each process would show a score other inputs.
void check_scores(const Workshop& shop) {
  if (shop.group->place().alone()) return;
  for (const prune::Pruner::Layer& layer : shop.pruner->algorithm().layers()) {
    if (layer.score->sees_inputs() || layer.score->sees_gradients()) {
      throw Error(hewn::str("score ", shop.recipe().score,
                            ": works in one process only: each would see other inputs"));
    }
  }
}

}  // namespace

Workshop::Workshop(const run::Options& given, run::Observer& observer,
                   const std::shared_ptr<dist::Communicator>& with)
    : options(given), device(tensor::find_device(given.device, with->place().local_rank)), group(with) {
  run::check_options(options);
  tensor::set_threads(options.threads, group->place().local_size);
  source = open_data(options, device, group->place(), observer);
  check_same_data(*source, *group);
  // Throws now, not in the first step, where the batch cannot be shared evenly.
  data::Share{0, group->place().size}.rows_of(std::min(options.batch, source->info().train_size));
  model = build_model(options, signature_of(source->info()));
  if (!options.init.empty()) load_init(*this, observer);
  const std::map<std::string, int64_t> positions =
      positions_of(nn::trace_layers(*model, source->info().input));
  task = make_task(source->info().kind, options.label_smoothing, source->info().target_scale);
  move_to(*model, device, options.cudnn_benchmark);
  if (options.sync_batch_norm) synchronise_norms(*this);
  steps = options.steps > 0 ? options.steps : options.epochs * source->train_batches();
  PrunerOptions pruning = run::pruner_options(options, steps);
  pruning.positions = positions;
  pruner = std::make_unique<Pruner>(*model, pruning);
  optimiser = std::make_unique<Optimiser>(*pruner, run::optimiser_options(options));
  check_scores(*this);
  if (options.teacher.empty()) return;
  options.temperature = temperature_for(options, *task);
  if (options.teacher != run::kSelfDense) teacher = load_teacher(*this, options.teacher, observer);
}

LoopOptions Workshop::loop_options() const {
  LoopOptions out;
  out.step = {task, options.accumulate, parse_precision(options.precision), options.cuda_graphs,
              run::is_taught(options) ? teacher : nullptr};
  out.rate = {parse_rate_shape(options.lr_schedule), run::peak_rate(options), options.lr_end, options.warmup,
              steps};
  out.steps = steps;
  out.batch = std::min(options.batch, source->info().train_size);
  out.ema = options.ema;
  out.part = run::evaluated_part(options);
  out.log_every = options.log_every;
  out.eval_every = options.eval_every * source->train_batches();
  out.checkpoint_every = options.checkpoint_every > 0 ? options.checkpoint_every : source->train_batches();
  return out;
}

}  // namespace hewn::train
