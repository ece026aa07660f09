#include "hewn/deploy/finished_run.h"

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/nn/trace.h"
#include "hewn/save.h"
#include "hewn/tensor/state_dict.h"
#include "hewn/train/network.h"

namespace hewn::deploy {

StartedRun StartedRun::open(const run::Folder& folder) {
  run::Config config = run::read_config(folder);
  auto model = train::build_model(config.options, config.signature);
  return {folder, std::move(config), std::move(model)};
}

prune::Plan StartedRun::plan() const {
  return prune::make_plan(nn::traced_shapes(*model, config.signature.input),
                          plan_options(config.options.prune));
}

FinishedRun FinishedRun::open(const run::Folder& folder) {
  FinishedRun out{StartedRun::open(folder), {}, {}};
  if (!folder.finished() || !is_there(folder.model())) {
    throw Error(hewn::str(folder.path.string(), ": is not finished; resume it first"));
  }
  const std::string path = folder.model().string();
  out.file = tensor::load_tensors(folder.model(), /*sealed=*/false);
  out.blocks = blocks_in(out.file, path);
  tensor::copy_into(tensor::state_dict(*out.model), out.file, "", path);  // checks names and shapes
  return out;
}

}  // namespace hewn::deploy
