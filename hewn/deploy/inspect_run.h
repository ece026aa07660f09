#pragma once

#include "hewn/run/folder.h"
#include "hewn/train/model_report.h"

namespace hewn::deploy {

/// The report of a run: of its model.safetensors, or of its newest checkpoint while it is unfinished.
train::ModelReport inspect_run(const run::Folder& run);

}  // namespace hewn::deploy
