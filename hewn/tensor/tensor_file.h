#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>

#include "hewn/io/safetensors.h"

namespace hewn::tensor {

/// Named tensors with metadata, as a safetensors file.
struct TensorFile {
  std::map<std::string, std::string> metadata;
  std::map<std::string, at::Tensor> tensors;
  std::string note{};  // of a PyTorch file: what was taken from it and left out (io/torch_file.h)
};

void save_tensors(const std::filesystem::path& path, const TensorFile& file, bool sealed);
/// Writes a state dict as torch.save does (.pt).
void save_torch(const std::filesystem::path& path, const std::map<std::string, at::Tensor>& tensors);

/// Tensors own their memory and are on the CPU.
TensorFile load_tensors(const std::filesystem::path& path, bool sealed);
/// The same for a file from elsewhere, safetensors or a PyTorch file by its content.
TensorFile load_weights(const std::filesystem::path& path);

/// Throws FormatError naming the file for a name of `targets` that is missing in it, has another
/// shape or is of whole numbers where it should not be.
void check_fits(const std::map<std::string, at::Tensor>& targets, const TensorFile& file,
                const std::string& prefix, const std::string& where);

/// Copies by name into `targets`, all or nothing. Throws FormatError naming the file for a missing name or
/// another shape.
void copy_into(const std::map<std::string, at::Tensor>& targets, const TensorFile& file,
               const std::string& prefix, const std::string& where);

/// The same where types must be equal too, and values finite: for files that only a run of our own writes.
void copy_exactly_into(const std::map<std::string, at::Tensor>& targets, const TensorFile& file,
                       const std::string& prefix, const std::string& where);

}  // namespace hewn::tensor
