#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

#include "hewn/prune/layer.h"

namespace hewn::prune {

/// What a resumed run needs of a layer besides its weight: the score's parameters, what the score remembers,
/// and the support. Tensors are shared, not copied.
std::map<std::string, at::Tensor> state_of(const Layer& layer);
/// Takes such a state, among those of other layers.
void load_state(Layer& layer, const std::map<std::string, at::Tensor>& state, const Execution& execution);

}  // namespace hewn::prune
