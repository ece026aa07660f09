#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

#include "hewn/core/blocks.h"
#include "hewn/runtime/model_file.h"

namespace torch::nn {
class Module;
}

namespace hewn {

/// A network's parameters and which blocks of them are kept.
struct Weights {
  std::map<std::string, at::Tensor> tensors;  // a state dict
  Blocks blocks;                              // of pruned layers
};

/// A network as the runtime wants it: batch norms folded into the layers before them, kept blocks only. The
/// graph names each layer as the state dict does; layers that were not pruned become a few large blocks.
/// Throws Error, naming both shapes, where a weight is not what its node asks for, and where one is not zero
/// outside its kept blocks.
runtime::ModelData export_model(const runtime::Graph& graph, const Weights& weights);

/// The same for a module of one's own, after Pruner::finish: runtime::write_model makes a file of it.
runtime::ModelData export_model(const torch::nn::Module& module, const runtime::Graph& graph,
                                const Blocks& blocks);

}  // namespace hewn
