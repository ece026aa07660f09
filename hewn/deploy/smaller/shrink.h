#pragma once

#include "hewn/core/blocks.h"
#include "hewn/flow/shrink/shrink.h"
#include "hewn/runtime/model_file.h"

namespace hewn::deploy {

/// Channels that go together, so that blocks of this size stay whole; 1 where there are none.
int64_t shrink_unit(const Blocks& blocks);

/// flow::shrink for a model of the runtime; `input` is one sample's shape, `pruned` has the layers whose
/// zeros are left out in blocks.
flow::Shrunk shrink(runtime::ModelData& model, const std::vector<int64_t>& input, const Blocks& pruned);

}  // namespace hewn::deploy
