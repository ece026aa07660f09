#pragma once

#include "hewn/core/blocks.h"

namespace torch::nn {
class Module;
}

namespace hewn {

/// The kept blocks of a network that was pruned elsewhere, read off its zeros: of every layer that has some,
/// the blocks of that size that are not all zero. Throws Error, saying how many zeros lie between other
/// values, where they do not form whole blocks.
Blocks blocks_by_zeros(torch::nn::Module& module, const BlockShape& block);

}  // namespace hewn
