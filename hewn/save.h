#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "hewn/core/blocks.h"
#include "hewn/tensor/tensor_file.h"

namespace torch::nn {
class Module;
}

namespace hewn {

/// Writes a module's parameters and buffers and its kept blocks (what Pruner::finish returned) as a
/// safetensors file, atomically. `about` is put into the file's metadata. Throws Error where a weight is not
/// zero outside its kept blocks.
void save(const torch::nn::Module& module, const Blocks& blocks, const std::filesystem::path& path,
          const std::map<std::string, std::string>& about = {});

/// Copies a safetensors file, or a state dict of torch.save (.pt), into a module of the same parameters and
/// buffers, by name, and returns its kept blocks: none where the file holds no such list. Throws FormatError,
/// and leaves the module as it is, where names or shapes do not fit or a weight is not zero outside its kept
/// blocks.
Blocks load(torch::nn::Module& module, const std::filesystem::path& path);

/// Whether a file's metadata lists kept blocks.
bool lists_blocks(const tensor::TensorFile& file);

/// The kept blocks that a file's metadata lists. Throws FormatError where there are none, or where they do
/// not fit the file's tensors.
Blocks blocks_in(const tensor::TensorFile& file, const std::string& where);

/// The name of a pruned layer's weight in a state dict: LAYER.weight, or LAYER_weight as MultiheadAttention
/// calls its projections.
std::string weight_name(const std::string& layer, const std::map<std::string, at::Tensor>& tensors);

/// Throws Error where the weight has values that are not zero outside its kept blocks, naming the first.
void check_zeros(const std::string& layer, const at::Tensor& weight, const LayerBlocks& blocks);

}  // namespace hewn
