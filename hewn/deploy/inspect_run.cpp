#include "hewn/deploy/inspect_run.h"

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/deploy/finished_run.h"
#include "hewn/prune/gate.h"
#include "hewn/prune/support.h"
#include "hewn/train/checkpoint.h"

namespace hewn::deploy {
namespace {

train::ModelReport inspect_checkpoint(const StartedRun& run) {
  std::vector<std::string> skipped;
  const auto checkpoint = train::CheckpointStore(run.folder.checkpoints(), 1).load_newest(&skipped);
  if (!checkpoint) {
    throw Error(hewn::str(run.folder.path.string(), ": holds neither a model nor a checkpoint yet"));
  }
  const prune::Plan plan = run.plan();
  std::map<std::string, at::Tensor> tensors;
  Blocks kept;
  for (const prune::LayerPlan& layer : plan.layers) {
    const auto support = checkpoint->tensors.find("pruner.support." + layer.name);
    if (support == checkpoint->tensors.end()) continue;
    kept[layer.name] = prune::blocks_of(layer.grid, support->second);
    // Behind a closed gate a checkpoint's weight may keep its value: show what the forward pass sees.
    const at::Tensor& weight = checkpoint->tensors.at("model." + layer.name + ".weight");
    tensors[layer.name + ".weight"] =
        prune::block_scale(weight, {}, support->second, prune::layout_on(weight, layer.grid));
  }
  train::ModelReport report = train::measured_report(*run.model, plan, tensors, kept);
  report.warnings.insert(
      report.warnings.begin(),
      hewn::str("the run is unfinished: this is its checkpoint after step ", checkpoint->step));
  return report;
}

}  // namespace

train::ModelReport inspect_run(const run::Folder& folder) {
  if (!folder.finished() || !is_there(folder.model())) {
    return inspect_checkpoint(StartedRun::open(folder));
  }
  const FinishedRun run = FinishedRun::open(folder);
  return train::measured_report(*run.model, run.plan(), run.file.tensors, run.blocks);
}

}  // namespace hewn::deploy
