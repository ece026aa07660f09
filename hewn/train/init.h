#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "hewn/core/blocks.h"
#include "hewn/nn/model.h"
#include "hewn/run/options.h"
#include "hewn/tensor/tensor_file.h"

namespace hewn::train {

/// Copies the weights of a safetensors or PyTorch file, or of a finished run, into the model by name: float,
/// half or bfloat16, with or without the prefix "module." that data-parallel training leaves. Tensors that
/// match one of the patterns in `skip` (with commas between) keep their values. Throws Error for a name that
/// is missing or left over, and for another shape. Returns the file; its note is what there is to say of it.
/// Without `skip` nothing may be left out, nor does an Error advise that.
tensor::TensorFile load_weights(nn::Model& model, const std::filesystem::path& path,
                                const std::optional<std::string>& skip);

/// Takes the support of the network that --init has brought into the model, `file`, over into the options:
/// the blocks that the file lists, else those of --block that are not all zero. Throws Error where there is
/// none to keep. Returns what there is to say of it.
std::string keep_support(nn::Model& model, const tensor::TensorFile& file, run::Options& options);

}  // namespace hewn::train
