#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "hewn/flow/graph.h"

namespace hewn::onnx {

/// Reads an ONNX file of opset 11 to 20; tensors in files beside it (external data) too. Throws FormatError,
/// naming the file: for what is not ONNX, for operators that cannot run (all of them in one error) and for
/// elements that are not numbers.
flow::Graph read_onnx(const std::filesystem::path& path);

/// The same for bytes, called `where` in errors; external data is looked for in `folder`.
flow::Graph parse_onnx(const std::string& bytes, const std::string& where,
                       const std::filesystem::path& folder);

/// What else the file says, its metadata_props: for people, and for who wrote it. Throws FormatError.
std::map<std::string, std::string> read_metadata(const std::filesystem::path& path);

}  // namespace hewn::onnx
