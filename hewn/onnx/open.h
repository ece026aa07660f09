#pragma once

#include <filesystem>

#include "hewn/flow/network.h"

namespace hewn::onnx {

/// A network of general tensors, ready to run: an ONNX file, or a model.hewn of version 3. Throws FormatError
/// that says what the file is instead.
flow::Network open_network(const std::filesystem::path& path);

}  // namespace hewn::onnx
