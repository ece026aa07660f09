#include "hewn/deploy/inspect_file.h"

#include <ATen/core/Tensor.h>

#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/io/source_kind.h"
#include "hewn/save.h"

namespace hewn::deploy {
namespace {

std::string metadata_text(const tensor::TensorFile& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  return found == file.metadata.end() ? "" : found->second;
}

FileReport inspect_weights(const std::filesystem::path& path) {
  const tensor::TensorFile file = tensor::load_weights(path);
  const Blocks blocks = file.metadata.contains("hewn.blocks") ? blocks_in(file, path.string()) : Blocks();
  std::map<std::string, std::string> layer_of;  // by the name of its weight
  for (const auto& [layer, kept] : blocks) layer_of[weight_name(layer, file.tensors)] = layer;
  FileReport out;
  out.weights = true;
  out.note = file.note;
  out.model = metadata_text(file, "hewn.model");
  out.method = metadata_text(file, "hewn.method");
  for (const auto& [name, tensor] : file.tensors) {
    const auto bytes = static_cast<int64_t>(tensor.nbytes());
    out.content.bytes_dense += bytes;
    if (tensor.dim() < 2 || tensor.numel() == 0) {
      out.other_bytes += bytes;
      continue;
    }
    const auto pruned = layer_of.find(name);
    if (pruned != layer_of.end()) {
      const LayerBlocks& kept = blocks.at(pruned->second);
      out.content.layers.push_back({pruned->second, kept.grid(), kept.kept(), true, bytes, bytes});
      continue;
    }
    const int64_t outputs = tensor.size(0);
    const int64_t inputs = tensor.numel() / outputs;
    const std::string layer = name.ends_with(".weight") ? name.substr(0, name.size() - 7) : name;
    out.content.layers.push_back({layer, {inputs, outputs, {inputs, outputs}}, 1, false, bytes, bytes});
  }
  return out;
}

FileReport inspect_model(const std::filesystem::path& path) {
  const runtime::ModelData data = runtime::read_model(path);
  FileReport out;
  out.model = data.model;
  out.method = data.method;
  out.input = data.graph.nodes.front().shape;
  out.outputs = runtime::infer_shapes(data.graph, {}).back().elements();
  out.classes = data.classes;
  out.preprocessing = data.preprocessing;
  for (const auto& [name, values] : data.arrays)
    out.array_bytes +=
        std::visit([](const auto& list) { return static_cast<int64_t>(8 * list.size()); }, values);
  out.content = report_on(data);
  return out;
}

}  // namespace

std::string preprocessing_text(const FileReport& report) {
  const Json& rule = report.preprocessing;
  if (!rule.is_object() || !rule.contains("kind")) return "";
  const auto part = [&](const char* key) { return rule.contains(key) ? rule[key].dump() : "as it is"; };
  if (rule["kind"] == "image") {
    return hewn::str("JPEG and PNG files; short side ", part("resize"), ", middle ", part("size"), ", mean ",
                     part("mean"), ", std ", part("std"));
  }
  if (rule["kind"] == "clicks") {
    const size_t columns = rule.contains("columns") ? rule["columns"].size() : 0;
    return hewn::str("click logs of ", columns, " columns; vocabularies and cuts ",
                     bytes_text(report.array_bytes),
                     rule.contains("hash_size") ? ", values hashed into " + part("hash_size") : "");
  }
  if (rule["kind"] == "table") {
    const size_t numbers = rule.contains("numbers") ? rule["numbers"].size() : 0;
    const size_t categories = rule.contains("categories") ? rule["categories"].size() : 0;
    return hewn::str("rows of a table: ", numbers, " columns of numbers, ", categories, " of text; target ",
                     rule.contains("target") ? rule["target"].dump() : "not named");
  }
  return rule["kind"].dump();
}

FileReport inspect_file(const std::filesystem::path& path) {
  FileReport out = io::kind_of(path) == io::SourceKind::kModel ? inspect_model(path) : inspect_weights(path);
  out.content.bytes = static_cast<int64_t>(std::filesystem::file_size(path));
  return out;
}

Json to_json(const ExportedLayer& layer) {
  return {{"name", layer.name},
          {"inputs", layer.grid.rows},
          {"outputs", layer.grid.cols},
          {"pruned", layer.pruned},
          {"block", {layer.grid.block.rows, layer.grid.block.cols}},
          {"blocks", layer.grid.blocks()},
          {"kept", layer.kept},
          {"bytes", layer.bytes},
          {"bytes_dense", layer.bytes_dense}};
}

Json to_json(const FileReport& report, const std::string& file) {
  Json layers = Json::array();
  for (const ExportedLayer& layer : report.content.layers) layers.push_back(to_json(layer));
  Json out = {{"file", file},
              {"kind", report.weights ? "weights" : "model"},
              {"model", report.model},
              {"method", report.method}};
  if (!report.weights) {
    out["input"] = {report.input.channels, report.input.height, report.input.width};
    out["outputs"] = report.outputs;
    out["classes"] = report.classes;
    out["preprocessing"] = report.preprocessing;
  }
  out["bytes"] = report.content.bytes;
  out["bytes_dense"] = report.content.bytes_dense;
  if (report.weights) out["other_bytes"] = report.other_bytes;
  if (!report.note.empty()) out["note"] = report.note;
  out["layers"] = std::move(layers);
  return out;
}

}  // namespace hewn::deploy
