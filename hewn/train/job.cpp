#include "hewn/train/job.h"

#include <torch/version.h>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/version.h"
#include "hewn/dist/text.h"
#include "hewn/nn/batch_norm.h"
#include "hewn/nn/slots.h"
#include "hewn/save.h"
#include "hewn/train/checkpoint.h"
#include "hewn/train/execution.h"
#include "hewn/train/init.h"
#include "hewn/train/inspection.h"
#include "hewn/train/log.h"
#include "hewn/train/loop.h"
#include "hewn/train/setup.h"
#include "hewn/train/share_checkpoint.h"
#include "hewn/train/supports.h"

namespace hewn::train {
namespace {

/// Everything that one training needs, built from its options.
struct Workshop {
  TrainOptions options;
  at::Device device;
  std::unique_ptr<data::Source> source;
  std::shared_ptr<nn::Model> model;
  std::shared_ptr<const Task> task;
  int64_t steps;
  std::unique_ptr<Pruner> pruner;
  std::unique_ptr<Optimiser> optimiser;
  std::shared_ptr<dist::Communicator> group;

  Workshop(const TrainOptions& given, Observer& observer, const std::shared_ptr<dist::Communicator>& with)
      : options(given), device(find_device(given.device, with->place())), group(with) {
    check_options(options);
    set_threads(options.threads, group->place());
    source = data::open_source(options.data, data_options(options, device, group->place(), observer));
    // Throws now, not in the first step, where the batch cannot be shared evenly.
    data::Share{0, group->place().size}.rows_of(std::min(options.batch, source->info().train_size));
    model = build_model(options, signature_of(source->info()));
    if (!options.init.empty()) load_weights(*model, options.init, options.init_skip);
    task = make_task(source->info().kind, options.label_smoothing);
    move_to(*model, device, options.cudnn_benchmark);
    if (options.sync_batch_norm) synchronise_norms();
    steps = options.steps > 0 ? options.steps : options.epochs * source->train_batches();
    pruner = std::make_unique<Pruner>(*model, pruner_options(options, steps));
    optimiser = std::make_unique<Optimiser>(*pruner, optimiser_options(options));
    for (const prune::Pruner::Layer& layer : pruner->algorithm().layers()) {
      if (layer.score->sees_inputs() && !group->place().alone()) {
        throw Error(
            hewn::str("score ", recipe().score, ": works in one process only: each would see other inputs"));
      }
    }
  }

  const prune::Recipe& recipe() const { return pruner->recipe(); }
  const prune::Plan& plan() const { return pruner->plan(); }

  void synchronise_norms() const {
    const nn::SumOverProcesses sum = [with = group](const at::Tensor& tensor) { with->sum(tensor); };
    const bool several = !group->place().alone();
    if (nn::synchronise_batch_norm(*model, several ? sum : nullptr) == 0) {
      throw Error(hewn::str("sync-batch-norm: model ", options.model, " has no batch-norm layers"));
    }
  }
};

LoopOptions loop_options(const Workshop& shop) {
  const TrainOptions& o = shop.options;
  LoopOptions out;
  out.step = {shop.task, o.accumulate, parse_precision(o.precision), !o.no_cuda_graphs};
  const double usual = parse_optimiser(o.optimizer) == kernels::UpdateKind::kSgd ? 0.1 : 0.001;
  out.rate = {parse_rate_shape(o.lr_schedule), o.lr.value_or(usual), o.lr_end, o.warmup, shop.steps};
  out.steps = shop.steps;
  out.batch = std::min(o.batch, shop.source->info().train_size);
  out.ema = o.ema;
  out.log_every = o.log_every;
  out.eval_every = o.eval_every * shop.source->train_batches();
  out.checkpoint_every = o.checkpoint_every > 0 ? o.checkpoint_every : shop.source->train_batches();
  return out;
}

/// Decides which layers run on kept blocks only, tells the pruner, and writes the choice into the options.
/// Returns what was measured for it.
Calibration choose_execution(Workshop& shop, Observer& observer) {
  Calibration calibration;
  if (shop.recipe().dense()) return calibration;
  const char* why_not = shop.device.is_cuda()              ? "--device cuda"
                        : !shop.group->place().alone()     ? "several processes"
                        : shop.options.precision != "fp32" ? "--precision bf16"
                                                           : nullptr;
  if (why_not != nullptr) {
    if (shop.options.prune.sparse_execution.value_or("off") != "off") {
      throw Error(hewn::str(
          "sparse-execution: works on the CPU, in fp32 and in one process; leave it out with ", why_not));
    }
    shop.options.prune.sparse_execution = "off";
    shop.pruner->set_execution("off");
    return calibration;
  }
  prune::Pruner& algorithm = shop.pruner->algorithm();
  if (shop.options.prune.sparse_execution) {
    const prune::DensityLimits limits = prune::parse_limits(*shop.options.prune.sparse_execution, algorithm);
    observer.on_message(hewn::str("sparse execution as given: ", prune::to_text(limits)));
  } else {
    calibration = calibrate(*shop.model, algorithm, shop.source->train_batch(0, 0).input);
    observer.on_message(describe(calibration));
    shop.options.prune.sparse_execution = prune::to_text(limits_of(calibration));
  }
  shop.pruner->set_execution(*shop.options.prune.sparse_execution);
  return calibration;
}

/// Writes config.json, which makes the folder a run, before anything else is done there.
void start_run(const RunFolder& run, const Workshop& shop, const Calibration& calibration) {
  TrainOptions resolved = shop.options;
  record_recipe(shop.recipe(), resolved);
  resolved.lr = loop_options(shop).rate.peak;
  resolved.out = run.path.string();
  Json costs = Json::object();
  for (const LayerCost& cost : calibration.layers) {
    costs[cost.layer] = {
        {"dense_ms", cost.dense_ms}, {"density", cost.density}, {"sparse_ms", cost.sparse_ms}};
  }
  write_json(run.config(), {{"hewn", kVersion},
                            {"libtorch", TORCH_VERSION},
                            {"steps", shop.steps},
                            {"signature", to_json(signature_of(shop.source->info()))},
                            {"layer_costs", costs},
                            {"options", describe(resolved).to_json()}});
}

Json summarise(const Workshop& shop, const Metrics& metrics, const ModelReport& report, double seconds) {
  const data::DataInfo& info = shop.source->info();
  return {{"method", shop.recipe().name},
          {"data", shop.options.data},
          {"model", shop.options.model},
          {"block", to_string(shop.plan().options.block)},
          {"sparsity", shop.recipe().dense() ? 0.0 : shop.options.prune.sparsity},
          {"seed", shop.options.seed},
          {"epochs", shop.options.epochs},
          {"steps", shop.steps},
          {"metrics", metrics},
          {"best_test_loss", info.best_test_loss ? Json(*info.best_test_loss) : Json(nullptr)},
          {"realised_sparsity", report.realised_sparsity()},
          {"layers_pruned", report.layers_pruned()},
          {"kept_blocks", report.blocks_kept()},
          {"blocks", report.blocks()},
          {"bytes_dense", report.bytes_dense()},
          {"bytes_sparse", report.bytes_sparse()},
          {"seconds", seconds}};
}

void announce(const Workshop& shop, Observer& observer) {
  const prune::Recipe& recipe = shop.recipe();
  if (recipe.dense()) return;
  const std::string why = shop.options.prune.method            ? ""
                          : nn::has_normalisation(*shop.model) ? " (default with normalisation layers)"
                                                               : " (default without normalisation layers)";
  observer.on_message(hewn::str(
      "method ", recipe.name, why, ": score ", recipe.score, ", schedule ", recipe.schedule, ", drop ",
      prune::name_of(recipe.drop), "; ", shop.plan().layers_pruned(), " of ", shop.plan().layers.size(),
      " layers pruned, ", shop.plan().blocks_kept(), " of ", shop.plan().blocks_total(), " blocks kept"));
  for (const std::string& warning : planned_report(*shop.model, shop.plan()).warnings)
    observer.on_message(warning);
}

std::optional<Checkpoint> find_start(const CheckpointStore& checkpoints, int64_t steps, Observer& observer) {
  std::vector<std::string> skipped;
  std::optional<Checkpoint> start = checkpoints.load_newest(&skipped);
  for (const std::string& text : skipped) observer.on_message(hewn::str("skipped a checkpoint: ", text));
  observer.on_message(start ? hewn::str("resuming after step ", start->step, " of ", steps)
                            : "no checkpoint to resume from: starting at step 1");
  return start;
}

/// Trains in a folder that start_run has prepared, up to model.safetensors. Only rank 0 touches the folder;
/// the others return nothing.
Json train_in(const RunFolder& run, Workshop& shop, bool resume, Observer& observer) {
  announce(shop, observer);
  Pruner& pruner = *shop.pruner;
  dist::Communicator& group = *shop.group;
  const bool first = group.place().first();
  for (const auto& [name, tensor] : tensor::state_dict(*shop.model)) group.broadcast(tensor.detach());
  CheckpointStore checkpoints(run.checkpoints(), shop.options.keep_checkpoints);
  const std::optional<Checkpoint> start =
      share_checkpoint(resume && first ? find_start(checkpoints, shop.steps, observer) : std::nullopt, group);
  std::optional<RunLog> log;
  std::optional<SupportLog> supports;
  if (first) {
    const int64_t done = start ? start->step : 0;
    log.emplace(run, done);
    supports.emplace(run, pruner.algorithm(), shop.recipe().score, done);
  }
  Observers all(first ? std::vector<Observer*>{&*supports, &*log, &observer}
                      : std::vector<Observer*>{&observer});
  Loop loop({*shop.model, *shop.source, pruner, *shop.optimiser, checkpoints, all, shop.group},
            loop_options(shop));
  if (start) loop.restore(*start, run.checkpoints().string());
  loop.run();

  if (first) supports->end(shop.steps);
  const Blocks blocks = pruner.finish();
  const Metrics metrics = evaluate(*shop.model, *shop.source, group);
  if (!first) return {};
  const ModelReport report =
      measured_report(*shop.model, shop.plan(), tensor::state_dict(*shop.model), blocks);
  for (const std::string& warning : report.warnings) observer.on_message(warning);
  save(*shop.model, blocks, run.model(),
       {{"hewn.model", shop.options.model}, {"hewn.method", shop.recipe().name}});
  return summarise(shop, metrics, report, loop.seconds());
}

/// What rank 0 knows of a folder.
bool told(dist::Communicator& group, bool known) {
  return dist::broadcast_text(group, known ? "yes" : "no") == "yes";
}

/// The dense model with the same settings, in run/dense.
Json train_baseline(const TrainOptions& options, const RunFolder& run, Observer& observer,
                    const std::shared_ptr<dist::Communicator>& group) {
  const bool first = group->place().first();
  if (told(*group, first && run.finished())) return first ? read_json(run.summary()) : Json();
  TrainOptions baseline = options;
  baseline.prune.method = "dense";
  baseline.prune.schedule.reset();
  baseline.compare_dense = false;
  baseline.prune.sparse_execution.reset();
  Workshop shop(baseline, observer, group);
  const bool resume = told(*group, first && run.started());
  if (first) make_writable_folder(run.path);
  if (first && !resume) start_run(run, shop, {});
  observer.on_message("dense model first, for comparison");
  Json summary = train_in(run, shop, resume, observer);
  if (first) write_json(run.summary(), summary);
  return summary;
}

/// The options that rank 0 trains with: a config.json that it resumes is not there for the others.
TrainOptions shared_options(const TrainOptions& own, dist::Communicator& group) {
  if (group.place().alone()) return own;
  TrainOptions options = own;
  const std::string text = dist::broadcast_text(group, describe(options).to_json().dump());
  describe(options).from_json(Json::parse(text), "the options of rank 0");
  return options;
}

}  // namespace

Json train(const TrainOptions& given, const RunFolder& run, bool resume, Observer& observer,
           const std::shared_ptr<dist::Communicator>& group) {
  const bool first = group->place().first();
  if (first && run.started() && !resume) {
    throw Error(
        hewn::str(run.path.string(), ": holds a run already; use --resume, or --out with another folder"));
  }
  if (first && resume && !run.started()) {
    observer.on_message(hewn::str(run.path.string(), ": holds no run yet; starting one"));
  }
  if (told(*group, first && run.finished())) {
    observer.on_message(hewn::str(run.path.string(), ": this run is finished already"));
    return first ? read_json(run.summary()) : Json();
  }
  const TrainOptions options = shared_options(given, *group);
  Workshop shop(options, observer, group);
  if (first) make_writable_folder(run.path);
  const std::unique_ptr<FileLock> lock = first ? std::make_unique<FileLock>(run.lock()) : nullptr;
  const bool go_on = told(*group, first && run.started());
  const Calibration calibration = choose_execution(shop, observer);
  // The folder is a run from here on, also while the dense model trains.
  if (first && !go_on) start_run(run, shop, calibration);
  const bool compare = options.compare_dense && !options.no_compare && !shop.recipe().dense();
  const Json dense = compare ? train_baseline(options, run.dense(), observer, group) : Json();
  Json summary = train_in(run, shop, go_on, observer);
  if (!first) return {};
  if (!dense.is_null()) {
    summary["dense_metrics"] = dense["metrics"];
    summary["dense_seconds"] = dense["seconds"];
  }
  summary["sparse_execution"] = shop.options.prune.sparse_execution.value_or("off");
  write_json(run.summary(), summary);
  return summary;
}

Metrics evaluate_run(const RunFolder& run, const std::string& data, const std::string& device,
                     int64_t threads) {
  const TrainOptions options = read_config(run);
  if (!std::filesystem::exists(run.model())) {
    throw Error(hewn::str(run.path.string(), ": has no model.safetensors yet; finish it with --resume"));
  }
  const dist::Place here;
  const at::Device where = find_device(device, here);
  set_threads(threads, here);
  Observer silent;
  const auto source =
      data::open_source(data.empty() ? options.data : data, data_options(options, where, here, silent));
  const auto model = build_model(options, signature_of(source->info()));
  tensor::copy_into(tensor::state_dict(*model), tensor::load_tensors(run.model(), /*sealed=*/false), "",
                    run.model().string());
  move_to(*model, where, /*cudnn_benchmark=*/false);
  return evaluate(*model, *source, *dist::alone());
}

Metrics evaluate_weights(const TrainOptions& options) {
  const dist::Place here;
  const at::Device where = find_device(options.device, here);
  set_threads(options.threads, here);
  Observer silent;
  const auto source = data::open_source(options.data, data_options(options, where, here, silent));
  const auto model = build_model(options, signature_of(source->info()));
  load_weights(*model, options.init, options.init_skip);
  move_to(*model, where, /*cudnn_benchmark=*/false);
  return evaluate(*model, *source, *dist::alone());
}

}  // namespace hewn::train
