#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "hewn/flow/graph.h"
#include "hewn/io/safetensors.h"

namespace hewn::flow {

/// A model.hewn file of version 3: a graph of general tensors. docs/formats.md describes it.
struct FlowModel {
  Graph graph;
  std::map<std::string, std::string> metadata;  // for people

  /// The size of the blocks of zeros that whoever wrote the file asked for; 0: any.
  int64_t block() const;
};

/// Writes atomically, with a checksum. Weights of which most are zero take the room of the others. `beside`:
/// tensors that are not the graph's, under names with a dot.
void write_flow_model(const std::filesystem::path& path, const Graph& graph,
                      const std::map<std::string, std::string>& metadata,
                      const std::map<std::string, io::TensorView>& beside = {});

/// Checks all that running relies on; throws FormatError naming the file.
FlowModel read_flow_model(const std::filesystem::path& path);
/// The same for bytes in memory, called `where` in errors. Without `sealed` the checksum is not looked at.
FlowModel parse_flow_model(std::string bytes, const std::string& where, bool sealed = true);

/// Whether a file is of this version; throws nothing.
bool is_flow_model(const std::filesystem::path& path);
/// What such a file says of itself, without its tensors and unchecked; nothing where it is none. Throws
/// nothing.
std::map<std::string, std::string> flow_metadata(const std::filesystem::path& path);

}  // namespace hewn::flow
