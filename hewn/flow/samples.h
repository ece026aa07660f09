#pragma once

#include "hewn/flow/passes/specialise.h"

namespace hewn::flow {

/// Whether a graph, made special for inputs whose first dimensions are all `samples`, does the same to each
/// sample whatever the others are: its outputs are then those of each sample alone, one behind the other.
/// Where that cannot be seen the answer is no.
bool samples_are_apart(const Special& special, int64_t samples);

}  // namespace hewn::flow
