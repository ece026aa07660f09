#include "hewn/runtime/model_file.h"

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/runtime/about.h"
#include "hewn/runtime/graph_json.h"
#include "hewn/runtime/layer_tensors.h"
#include "hewn/runtime/node_json.h"
#include "hewn/runtime/preprocessing.h"

namespace hewn::runtime {
namespace {

constexpr int kGraphDepth = 5;                     // graph, nodes, node, list, number
constexpr size_t kMaxGraphText = size_t{1} << 25;  // parsed, a graph takes several times its text
const std::string kVersion = "2";

const std::string& metadata(const io::SafetensorsFile& file, const char* key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) throw Error(str("has no metadata \"", key, "\": it is no hewn model"));
  return found->second;
}

nlohmann::json graph_of(const io::SafetensorsFile& file) {
  const std::string& text = metadata(file, "hewn.graph");
  if (text.size() > kMaxGraphText) throw Error(str("its graph is longer than ", kMaxGraphText, " bytes"));
  auto graph = parse_shallow<nlohmann::json>(text, kGraphDepth);
  if (graph.is_discarded())
    throw Error(str("its graph is no JSON, or nests deeper than ", kGraphDepth, " levels"));
  return graph;
}

ModelData parse_v1(const io::SafetensorsFile& file, const Limits& limits) {
  ModelData model;
  model.model = metadata(file, "hewn.model");
  model.method = metadata(file, "hewn.method");
  model.graph = graph_from_json_v1(graph_of(file));
  const std::vector<Shape> shapes = infer_shapes(model.graph, limits);
  read_layers(file, shapes, /*most_zeros=*/0, model);
  if (metadata(file, "hewn.input") != to_string(shapes.front()) ||
      metadata(file, "hewn.outputs") != std::to_string(shapes.back().elements())) {
    throw Error("its graph has another input or output than its metadata says");
  }
  return model;
}

ModelData parse_v2(const io::SafetensorsFile& file, const Limits& limits) {
  check_needs(file.metadata);
  ModelData model;
  model.graph = graph_from_json(graph_of(file), limits);
  const std::vector<Shape> shapes = infer_shapes(model.graph, limits);
  read_about(file.metadata, shapes.back(), model);
  model.arrays = read_arrays(file);
  if (!model.arrays.empty() && model.preprocessing.is_null())
    throw Error("holds tensors of a preprocessing that it does not describe");
  read_layers(file, shapes, limits.activation_floats, model);
  return model;
}

}  // namespace

void write_model(const std::filesystem::path& path, const ModelData& model, io::DType type) {
  std::map<std::string, std::string> metadata = {{"hewn.format", kVersion},
                                                 {"hewn.graph", to_json(model.graph).dump()}};
  write_about(model, infer_shapes(model.graph, {}).back(), metadata);
  LayerTensors tensors = layer_tensors(model, type);
  add_arrays(model.arrays, tensors.views);
  io::write_safetensors(path, metadata, tensors.views, /*sealed=*/true);
}

ModelData parse_model(std::string bytes, const std::string& where, const Limits& limits, bool sealed) {
  const io::SafetensorsFile file = io::parse_safetensors(std::move(bytes), where, sealed);
  try {
    const std::string& version = metadata(file, "hewn.format");
    if (version == kVersion) return parse_v2(file, limits);
    if (version == "1") return parse_v1(file, limits);
    if (version == "3") {
      throw Error(
          "is of format version \"3\", a network of general tensors: open it with hewn::onnx::open_network "
          "or hewn_network_load");
    }
    throw Error(str("is of format version ", in_quotes(version), "; this version of hewn reads 1 and 2"));
  } catch (const Error& error) {
    throw FormatError(where, error.what());
  }
}

ModelData read_model(const std::filesystem::path& path, const Limits& limits) {
  return parse_model(read_file(path), path.string(), limits);
}

}  // namespace hewn::runtime
