#pragma once

// Everything a user of the library needs. Read hewn/pruner.h first.
#include "hewn/core/blocks.h"
#include "hewn/core/error.h"
#include "hewn/export.h"
#include "hewn/nn/layers.h"
#include "hewn/optimiser.h"
#include "hewn/pruner.h"
#include "hewn/runtime/model.h"
#include "hewn/save.h"
#include "hewn/torch_optim.h"
#include "hewn/zeros.h"
