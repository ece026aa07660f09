#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <string>

#include "hewn/io/safetensors.h"

namespace hewn::io {

/// The tensors of a file that torch.save made.
struct TorchFile {
  std::map<std::string, TensorView> tensors;  // views into `bytes` after reading
  std::string note;               // where they were found and what was left out; "" where all is plain
  std::deque<std::string> bytes;  // owns the data after reading
};

/// Reads a state dict (.pt, .pth) without Python and without running anything: see pickle.h. Tensors become
/// row-major. Of a checkpoint, the dict "state_dict", "model_state_dict" or "model" is taken; "module."
/// before all names is taken off; entries that are no tensors are left out; the note says so. Throws
/// FormatError, also for whole modules, TorchScript and files from before PyTorch 1.6, and says what to save
/// instead.
TorchFile read_torch(const std::filesystem::path& path);

/// Writes what torch.load(path, weights_only=True) reads as a state dict, atomically. Equal tensors make
/// equal files.
void write_torch(const std::filesystem::path& path, const std::map<std::string, TensorView>& tensors);

}  // namespace hewn::io
