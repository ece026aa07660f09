#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "hewn/core/preprocessing.h"
#include "hewn/io/safetensors.h"

namespace hewn::runtime {

// A preprocessing's arrays are tensors "preprocessing.NAME" of a model file: I64 or F64, of one dimension.

/// Throws Error that names a tensor of another form.
Arrays read_arrays(const io::SafetensorsFile& file);

/// Adds views of the arrays.
void add_arrays(const Arrays& arrays, std::map<std::string, io::TensorView>& views);

/// A preprocessing in a file of its own, which a run keeps for its model file: the same metadata and tensors,
/// atomically and with a checksum.
void write_preprocessing(const std::filesystem::path& path, const Preprocessing& preprocessing);

/// Throws FormatError where the file is damaged, or names classes for another number of outputs.
Preprocessing read_preprocessing(const std::filesystem::path& path, int64_t outputs);

}  // namespace hewn::runtime
