#pragma once

#include "hewn/flow/builder.h"
#include "hewn/flow/op/window/window.h"

namespace hewn::flow {

/// The window of a MaxPool or AveragePool.
Window pool_window(const Builder& builder, const Node& node);

}  // namespace hewn::flow
