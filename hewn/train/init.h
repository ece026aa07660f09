#pragma once

#include <filesystem>
#include <string>

#include "hewn/nn/model.h"

namespace hewn::train {

/// Copies the weights of a safetensors or PyTorch file into the model by name: float, half or bfloat16, with
/// or without the prefix "module." that data-parallel training leaves. Tensors that match one of the patterns
/// in `skip` (with commas between) keep their values. Throws Error for a name that is missing or left over,
/// and for another shape. Returns what there is to say of the file: "", or what was taken from a checkpoint.
std::string load_weights(nn::Model& model, const std::filesystem::path& path, const std::string& skip);

}  // namespace hewn::train
