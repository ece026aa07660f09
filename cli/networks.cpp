#include "cli/networks.h"

#include <filesystem>
#include <iostream>

#include "cli/source.h"
#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/core/json.h"
#include "hewn/core/text.h"
#include "hewn/flow/bf16/halve.h"
#include "hewn/flow/int8/byte_weights.h"
#include "hewn/flow/model_file.h"
#include "hewn/flow/passes/simplify.h"
#include "hewn/flow/weights.h"
#if HEWN_ONNX
#include "hewn/onnx/import.h"
#endif

namespace hewn::cli {
namespace {

// Levels of JSON that class names and preprocessing have at most, and more: what is printed must not nest
// without end.
constexpr int kAboutDepth = 8;

std::string port_text(const flow::Graph& graph, const flow::Port& port) {
  std::string dims;
  for (const int64_t dim : port.spec.dims)
    dims += (dims.empty() ? "" : "x") + (dim < 0 ? std::string("?") : str(dim));
  return str(plain_text(graph.name(port.value)), " (", name_of(port.spec.type), " ",
             dims.empty() ? "number" : dims, ")");
}

Json ports_to_json(const flow::Graph& graph, const std::vector<flow::Port>& ports) {
  Json out = Json::array();
  for (const flow::Port& port : ports) {
    Json dims = Json::array();
    for (const int64_t dim : port.spec.dims) dims.push_back(dim < 0 ? Json(nullptr) : Json(dim));
    out.push_back(
        {{"name", valid_utf8(graph.name(port.value))}, {"type", name_of(port.spec.type)}, {"shape", dims}});
  }
  return out;
}

/// One weight, and how it will be multiplied.
struct WeightLine {
  std::string name;
  std::string op;
  std::string shape;
  int64_t numbers;
  flow::BlockChoice choice;
  bool depthwise;
  std::string dtype;  // of its products
};

/// What a layer's numbers are held as.
std::string dtype_of(const flow::Graph& graph, const flow::Node& node) {
  if (flow::byte_weight_of(graph, node).tensor != nullptr && graph.bytes.contains(node.inputs[0]))
    return "int8";
  return flow::half_weight_of(graph, node).tensor != nullptr ? "bf16" : "f32";
}

std::vector<WeightLine> weight_lines(const flow::Graph& graph, int64_t block) {
  std::vector<WeightLine> lines;
  for (const flow::Node& node : graph.nodes) {
    const flow::WeightOf weight = flow::weight_of(graph, node);
    if (weight.tensor == nullptr) continue;
    const bool depthwise = weight.groups > 1 && weight.tensor->dims()[1] == 1;
    lines.push_back({node.name.empty() ? graph.name(node.outputs[0]) : node.name, node.op,
                     flow::to_string(weight.tensor->dims()), weight.tensor->elements(),
                     depthwise ? flow::BlockChoice{}
                               : flow::choose_blocks(*weight.tensor, weight.kind, weight.groups, block),
                     depthwise, dtype_of(graph, node)});
  }
  return lines;
}

std::string way_text(const WeightLine& line) {
  if (line.depthwise) return "dense: one window a channel";
  std::string held = line.dtype == "f32" ? "" : line.dtype + ", ";
  if (line.dtype == "bf16" && flow::bf16_machine().empty()) held = "bf16, in 32 bits on this machine, ";
  if (line.choice.block == 0)
    return str(held, "dense: ", percent(line.choice.density), " of the blocks are not zero");
  return str(held, "blocks of ", line.choice.block);
}

}  // namespace

bool is_network(const std::string& path) {
  const io::SourceKind kind = io::kind_of(path);
  return kind == io::SourceKind::kOnnx || (kind == io::SourceKind::kModel && flow::is_flow_model(path));
}

bool answers_samples(const std::string& path) {
  if (io::kind_of(path) != io::SourceKind::kModel) return false;
  const auto metadata = flow::flow_metadata(path);
  const auto rule = metadata.find("hewn.preprocessing");
  if (!metadata.contains("hewn.about")) return false;
  if (rule == metadata.end()) return true;
  const auto json = parse_shallow<nlohmann::json>(rule->second, kAboutDepth);
  // Of text every character has outputs of its own.
  return !json.is_object() || !json.contains("kind") || json.at("kind") != "text";
}

NetworkSource open_network(const std::string& path) {
  const io::SourceKind kind = source_kind("a network", path, {io::SourceKind::kOnnx, io::SourceKind::kModel});
  if (kind == io::SourceKind::kModel) {
    flow::FlowModel model = flow::read_flow_model(path);
    const int64_t block = model.block();
    return {std::move(model.graph), block, std::move(model.metadata)};
  }
#if HEWN_ONNX
  return {onnx::read_onnx(path), 0, {}};
#else
  throw Error(str(path, ": this hewn was built without libonnx-dev, which reads ONNX files"));
#endif
}

Json weights_to_json(const flow::Graph& simple, int64_t block) {
  Json layers = Json::array();
  for (const WeightLine& line : weight_lines(simple, block)) {
    layers.push_back({{"name", valid_utf8(line.name)},
                      {"op", line.op},
                      {"shape", line.shape},
                      {"numbers", line.numbers},
                      {"dtype", line.dtype},
                      {"block", line.choice.block},
                      {"density", line.choice.block > 0 ? line.choice.density : 1.0}});
  }
  return layers;
}

void print_weights(const flow::Graph& simple, int64_t block) {
  const std::vector<WeightLine> lines = weight_lines(simple, block);
  if (lines.empty()) return;
  std::vector<std::vector<std::string>> rows = {{"layer", "operator", "weight", "kept", "multiplied"}};
  for (const WeightLine& line : lines) {
    rows.push_back({plain_text(line.name), line.op, line.shape,
                    percent(line.choice.block > 0 ? line.choice.density : 1.0), way_text(line)});
  }
  print_table(std::cout, rows, {false, false, true, true, false});
}

void print_network(const flow::Graph& graph, int64_t block, const std::string& file, bool json,
                   const Json& about) {
  flow::Graph simple = graph;
  flow::simplify(simple);
  if (json) {
    Json out = {{"file", file},
                {"inputs", ports_to_json(graph, graph.inputs)},
                {"outputs", ports_to_json(graph, graph.outputs)},
                {"nodes", simple.nodes.size()},
                {"layers", weights_to_json(simple, block)}};
    if (about.is_object()) out.update(about);
    std::cout << out.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
    return;
  }
  std::cout << file << ": a network of " << simple.nodes.size() << " nodes\n";
  for (const flow::Port& port : graph.inputs) std::cout << "takes " << port_text(graph, port) << '\n';
  for (const flow::Port& port : graph.outputs) std::cout << "gives " << port_text(graph, port) << '\n';
  std::cout << '\n';
  print_weights(simple, block);
}

int run_inspect_network(const std::string& path, bool json) {
  const NetworkSource source = open_network(path);
  Json about = {{"bytes", std::filesystem::file_size(path)}};
  for (const char* key : {"classes", "preprocessing"}) {
    const auto found = source.metadata.find(str("hewn.", key));
    if (found == source.metadata.end()) continue;
    Json value = parse_shallow<Json>(found->second, kAboutDepth);
    if (!value.is_discarded()) about[key] = std::move(value);
  }
  print_network(source.graph, source.block, path, json, about);
  if (json) return 0;
  std::cout << '\n' << path << ": " << bytes_text(about["bytes"].get<int64_t>()) << '\n';
  if (about.contains("classes")) std::cout << "classes: " << plain_text(about["classes"].dump()) << '\n';
  if (about.contains("preprocessing") && about["preprocessing"].contains("kind")) {
    std::cout << "takes raw data: " << plain_text(about["preprocessing"]["kind"].dump()) << '\n';
  }
  return 0;
}

}  // namespace hewn::cli
