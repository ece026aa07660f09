#pragma once

// Everything a user of the library needs. Read hewn/prune/pruner.h first.
#include "hewn/core/error.h"
#include "hewn/core/grid.h"
#include "hewn/data/source.h"
#include "hewn/nn/model.h"
#include "hewn/prune/gate.h"
#include "hewn/prune/plan.h"
#include "hewn/prune/pruner.h"
#include "hewn/prune/recipes.h"
#include "hewn/runtime/model.h"
#include "hewn/train/export.h"
#include "hewn/train/job.h"
#include "hewn/train/optimiser.h"
