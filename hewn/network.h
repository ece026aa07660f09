#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "hewn/prune/weight_slot.h"

namespace torch::nn {
class Module;
}

namespace hewn {

/// What a pruner needs to know of a network, whatever its layers are made of.
struct Network {
  std::vector<prune::WeightSlot> slots;                        // weights that can be pruned
  std::vector<std::pair<std::string, at::Tensor>> parameters;  // all that is trained, each once
  std::vector<at::Tensor> tables;                              // of them, those that are updated row by row
  std::vector<std::string> chain;  // its layers in order, where it is a plain chain of them
};

/// A module of LibTorch as a network; `embeddings`: its Embedding tables can be pruned too. The module must
/// outlive it.
Network network_of(torch::nn::Module& module, bool embeddings);

}  // namespace hewn
