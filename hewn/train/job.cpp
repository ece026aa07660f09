#include "hewn/train/job.h"

#include <torch/version.h>

#include <cmath>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/dist/text.h"
#include "hewn/run/config.h"
#include "hewn/run/costs.h"
#include "hewn/run/log.h"
#include "hewn/run/method_name.h"
#include "hewn/run/recipe.h"
#include "hewn/runtime/preprocessing.h"
#include "hewn/save.h"
#include "hewn/tensor/state_dict.h"
#include "hewn/train/checkpoint.h"
#include "hewn/train/choose_execution.h"
#include "hewn/train/evaluate.h"
#include "hewn/train/loop.h"
#include "hewn/train/model_report.h"
#include "hewn/train/network.h"
#include "hewn/train/open_data.h"
#include "hewn/train/ranks/share_checkpoint.h"
#include "hewn/train/supports.h"
#include "hewn/train/teacher.h"
#include "hewn/train/workshop.h"

namespace hewn::train {
namespace {

/// Writes config.json, which makes the folder a run, before anything else is done there.
void start_run(const run::Folder& run, const Workshop& shop) {
  make_writable_folder(run.path);
  run::Config config{shop.options, shop.steps, signature_of(shop.source->info()), TORCH_VERSION};
  run::record_recipe(shop.recipe(), config.options);
  config.options.lr = shop.loop_options().rate.peak;
  config.options.out = run.path.string();
  if (!shop.options.cost_text.empty()) write_file_atomically(run.costs(), shop.options.cost_text);
  run::write_config(run, config);
}

run::Summary summarise(const Workshop& shop, const run::Metrics& metrics, const ModelReport& report) {
  run::Summary out;
  out.method = run::method_name(shop.options, shop.recipe());
  out.data = shop.options.data;
  out.model = shop.options.model;
  out.block = to_string(shop.plan().options.block);
  out.sparsity = shop.recipe().dense() ? 0.0 : shop.plan().options.sparsity;
  out.seed = shop.options.seed;
  out.epochs = shop.options.epochs;
  out.steps = shop.steps;
  out.metrics = metrics;
  if (shop.options.eval_on != "test") out.eval_on = shop.options.eval_on;
  out.best_test_loss = shop.source->info().best_test_loss;
  out.realised_sparsity = report.realised_sparsity();
  out.layers_pruned = report.layers_pruned();
  out.kept_blocks = report.blocks_kept();
  out.blocks = report.blocks();
  out.bytes_dense = report.bytes_dense();
  out.bytes_sparse = report.bytes_sparse();
  out.products_dense = report.products_dense();
  out.products_sparse = report.products_sparse();
  out.expected_ms_dense = report.ms_dense();
  out.expected_ms_sparse = report.ms_sparse();
  return out;
}

void announce(const Workshop& shop, run::Observer& observer) {
  const prune::Recipe& recipe = shop.recipe();
  if (recipe.dense()) return;
  const std::string why = shop.options.prune.method || shop.options.keep_support ? "" : " (default)";
  observer.on_message(
      hewn::str("method ", run::method_name(shop.options, shop.recipe()), why, ": score ", recipe.score,
                ", schedule ", recipe.schedule, ", drop ", prune::name_of(recipe.drop), ", budget ",
                prune::to_string(recipe.budget), "; ", shop.plan().layers_pruned(), " of ",
                shop.plan().layers.size(), " layers pruned, ", recipe.budget.limited() ? "about " : "",
                shop.plan().blocks_kept(), " of ", shop.plan().blocks_total(), " blocks kept"));
  const ModelReport planned = planned_report(*shop.model, shop.plan());
  if (!planned.limits.empty()) observer.on_message(planned.limits.front());
  for (const std::string& warning : planned.warnings) observer.on_message(warning);
}

std::optional<Checkpoint> find_start(const CheckpointStore& checkpoints, int64_t steps,
                                     run::Observer& observer) {
  std::vector<std::string> skipped;
  std::optional<Checkpoint> start = checkpoints.load_newest(&skipped);
  for (const std::string& text : skipped) observer.on_message(hewn::str("skipped a checkpoint: ", text));
  observer.on_message(start ? hewn::str("resuming after step ", start->step, " of ", steps)
                            : "no checkpoint to resume from: starting at step 1");
  return start;
}

[[noreturn]] void ended_badly(const std::string& what) {
  throw Error(hewn::str("training diverged: ", what,
                        " is not finite; try a smaller lr, a smaller logit-lr or clip-grad 1"));
}

/// Trains in a folder that start_run has prepared, up to model.safetensors. Only rank 0 touches the folder;
/// the others return nothing of use.
run::Summary train_in(const run::Folder& run, Workshop& shop, bool resume, run::Observer& observer,
                      const std::optional<run::Course>& later = {}) {
  announce(shop, observer);
  Pruner& pruner = *shop.pruner;
  dist::Communicator& group = *shop.group;
  const bool first = group.place().first();
  if (first && !is_there(run.inputs()))
    runtime::write_preprocessing(run.inputs(), shop.source->preprocessing());
  for (const auto& [name, tensor] : tensor::state_dict(*shop.model)) group.broadcast(tensor.detach());
  CheckpointStore checkpoints(run.checkpoints(), shop.options.keep_checkpoints);
  const std::optional<Checkpoint> start =
      share_checkpoint(resume && first ? find_start(checkpoints, shop.steps, observer) : std::nullopt, group);
  std::optional<run::RunLog> log;
  std::optional<SupportLog> supports;
  if (first) {
    const int64_t done = start ? start->step : 0;
    log.emplace(run, done, !start || start->state.value("unevaluated", Json()) != true);
    supports.emplace(run, pruner.algorithm(), shop.recipe().score, done);
  }
  run::Observers all(first ? std::vector<run::Observer*>{&*supports, &*log, &observer}
                           : std::vector<run::Observer*>{&observer});
  LoopOptions options = shop.loop_options();
  options.later = later;
  Loop loop({*shop.model, *shop.source, pruner, *shop.optimiser, checkpoints, all, shop.group}, options);
  if (start) loop.restore(*start, run.checkpoints().string());
  loop.run();

  if (first) supports->end(shop.steps);
  const Blocks blocks = pruner.finish();
  const std::string bad = tensor::not_finite(tensor::state_dict(*shop.model));
  if (!bad.empty()) ended_badly(hewn::str(bad, " of the finished network"));
  const run::Metrics metrics = evaluate(*shop.model, *shop.source, group, all);
  // Weights may be finite and what they compute not. (Other metrics have no value for some data.)
  const auto loss = metrics.find("loss");
  if (loss != metrics.end() && !std::isfinite(loss->second)) ended_badly("the finished network's loss");
  if (!first) return {};
  const ModelReport report =
      measured_report(*shop.model, shop.plan(), tensor::state_dict(*shop.model), blocks);
  for (const std::string& warning : report.warnings) observer.on_message(warning);
  save(*shop.model, blocks, run.model(),
       {{"hewn.model", shop.options.model}, {"hewn.method", run::method_name(shop.options, shop.recipe())}});
  run::Summary summary = summarise(shop, metrics, report);
  summary.seconds = loop.seconds();
  return summary;
}

/// What rank 0 knows of a folder.
bool told(dist::Communicator& group, bool known) {
  return dist::broadcast_text(group, known ? "yes" : "no") == "yes";
}

/// The dense model beside a run, with the same settings.
run::Options baseline_options(const run::Options& options) {
  run::Options baseline = options;
  baseline.prune.method = "dense";
  baseline.prune.schedule.reset();
  baseline.prune.budget = "uniform";
  baseline.costs.clear();
  baseline.cost_text.clear();
  baseline.keep_support = false;
  baseline.compare_dense = false;
  const run::Options usual;
  baseline.teacher = usual.teacher;
  baseline.teacher_share = usual.teacher_share;
  baseline.temperature = usual.temperature;
  baseline.prune.sparse_execution.reset();
  return baseline;
}

/// The same where the run goes on: its own options hold by now what the method has chosen, which must not
/// reach the dense model.
run::Options resumed_baseline(const run::Options& options, const run::Folder& run) {
  if (!run.started()) return baseline_options(options);
  run::Options now = options;
  Json own = run::read_config(run).options_json();
  const OptionTable table = describe(now);
  for (const Option& option : table.options()) {
    if (run::may_change_on_resume(option.key)) own[option.key] = option.get();
  }
  run::Options out;
  describe(out).from_json(own, run.config().string());
  return out;
}

/// Trains the dense model in run/dense. `pruned` comes behind it.
run::Summary train_baseline(Workshop& dense, const Workshop& pruned, const run::Folder& run,
                            run::Observer& observer) {
  const bool first = dense.group->place().first();
  const bool resume = told(*dense.group, first && is_there(run.checkpoints()));
  if (first && !run.started()) start_run(run, dense);
  observer.on_message(pruned.options.teacher == run::kSelfDense ? "dense model first, as the teacher"
                                                                : "dense model first, for comparison");
  const run::Course later =
      course_of(pruned.pruner->algorithm().schedule(), pruned.loop_options(), *pruned.source, 0);
  run::Summary summary = train_in(run, dense, resume, observer, later);
  if (first) run::write_summary(run.summary(), summary);
  return summary;
}

/// The options that rank 0 trains with: a config.json that it resumes is not there for the others.
run::Options shared_options(const run::Options& own, dist::Communicator& group) {
  if (group.place().alone()) return own;
  run::Options options = own;
  const std::string text = dist::broadcast_text(group, describe(options).to_json().dump());
  describe(options).from_json(Json::parse(text), "the options of rank 0");
  const std::string costs = dist::broadcast_text(group, own.cost_text);
  if (!costs.empty()) run::take_costs(options, costs, "the costs of rank 0");
  return options;
}

/// With the costs that the run began with, or where it begins now those of the file.
run::Options with_costs(const run::Options& given, const run::Folder& run) {
  run::Options options = given;
  if (options.costs.empty()) return options;
  const std::filesystem::path path = run.started() ? run.costs() : std::filesystem::path(options.costs);
  run::take_costs(options, read_file(path), path.string());
  return options;
}

}  // namespace

run::Summary train(const run::Options& given, const run::Folder& run, bool resume, run::Observer& observer,
                   const std::shared_ptr<dist::Communicator>& group) {
  const bool first = group->place().first();
  if (first && run.started() && !resume) {
    throw Error(
        hewn::str(run.path.string(), ": holds a run already; resume it, or give another folder as out"));
  }
  if (first && resume && !run.started()) {
    throw Error(hewn::str(run.path.string(),
                          is_there(run.path) ? ": holds no run (it has no config.json)" : ": no such folder",
                          "; there is nothing to resume"));
  }
  if (told(*group, first && run.finished())) {
    observer.on_message(hewn::str(run.path.string(), ": this run is finished already"));
    return first ? run::read_summary(run.summary()) : run::Summary();
  }
  const run::Options options = shared_options(first ? with_costs(given, run) : given, *group);
  const bool dense_teaches = options.teacher == run::kSelfDense;
  if (first) check_is_another(options.teacher, run.path);
  Workshop shop(options, observer, group);
  if (first) make_writable_folder(run.path);
  const std::unique_ptr<FileLock> lock = first ? std::make_unique<FileLock>(run.lock()) : nullptr;
  const bool go_on = told(*group, first && run.started());
  if (first && go_on) check_unchanged(run, *shop.source);
  choose_execution(shop, observer);
  const bool compare = (options.compare_dense || dense_teaches) && !shop.recipe().dense();
  std::optional<Workshop> twin;
  if (compare && !told(*group, first && run.dense().finished())) {
    const run::Options own =
        first && go_on ? resumed_baseline(options, run.dense()) : baseline_options(options);
    twin.emplace(shared_options(own, *group), observer, group);
  }
  // The folder is a run from here on, also while the dense model trains.
  if (first && !go_on) {
    if (twin) start_run(run.dense(), *twin);
    start_run(run, shop);
  }
  run::Summary dense;
  if (twin) {
    dense = train_baseline(*twin, shop, run.dense(), observer);
  } else if (compare && first) {
    dense = run::read_summary(run.dense().summary());
  }
  twin.reset();
  if (dense_teaches) shop.teacher = load_teacher(shop, run.dense().path, observer);
  run::Summary summary = train_in(run, shop, go_on, observer);
  if (!first) return {};
  if (compare) {
    summary.dense_metrics = dense.metrics;
    summary.dense_seconds = dense.seconds;
  }
  summary.sparse_execution = shop.options.prune.sparse_execution.value_or("off");
  run::write_summary(run.summary(), summary);
  return summary;
}

}  // namespace hewn::train
