#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hewn/flow/graph.h"

namespace hewn::onnx {

/// Throws Error, which says what to install, where this program was built without ONNX.
void require_onnx();

/// What a file says beside its graph.
struct FileOptions {
  /// What the dimensions of inputs and outputs that are not known are called, by their place; those behind
  /// have no name. Of a graph of several inputs none has: nothing says that they are equal.
  std::vector<std::string> axes = {"batch"};
  std::map<std::string, std::string> metadata;  // its metadata_props
};

/// Writes the graph as an ONNX file, atomically, of the opset whose rules its nodes follow (those of this
/// library: 17). Nodes that this opset does not know, as flow::simplify makes them, are spelt out in older
/// ones. Throws Error where nodes follow several, and for a file beyond 2 GiB.
void write_onnx(const std::filesystem::path& path, const flow::Graph& graph, const FileOptions& options = {});

/// The bytes of such a file.
std::string onnx_bytes(const flow::Graph& graph, const FileOptions& options = {});

}  // namespace hewn::onnx
