#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "hewn/flow/tensor.h"

namespace hewn::onnx {

/// An ONNX file with other numbers in some of its constants, by name: initializers, and what nodes make of
/// constants alone. All else stays as it is, but that tensors which lay in other files come into this one.
/// Throws FormatError, naming the file, where a constant is not there or not of floats.
std::string replace_constants(const std::filesystem::path& path,
                              const std::map<std::string, flow::Tensor>& constants);

}  // namespace hewn::onnx
