#include "hewn/runtime/model_file.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/kernels/packed.h"

namespace hewn::runtime {
namespace {

const std::string kVersion = "1";
constexpr int kGraphDepth = 5;                                       // graph, nodes, node, list, number
constexpr int64_t kMaxBlock = int64_t{1} << 20;                      // of one side of a block
constexpr int64_t kMaxValues = std::numeric_limits<int32_t>::max();  // kernels count them in 32 bits

/// Copies out of a file, where nothing is aligned.
template <class T>
std::vector<T> copy_of(const io::TensorView& view) {
  std::vector<T> out(view.data.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), view.data.data(), out.size() * sizeof(T));
  return out;
}

/// One layer's tensors; every error names the layer.
class LayerReader {
 public:
  LayerReader(const io::SafetensorsFile& file, const std::string& name) : file_(file), name_(name) {}

  Layer read(int64_t rows, int64_t cols) const {
    const io::TensorView& values = tensor("values", 3);
    const Grid grid{rows, cols, {values.shape[2], values.shape[1]}};
    for (const int64_t extent : {grid.block.rows, grid.block.cols}) {
      if (extent < 1 || extent > kMaxBlock) throw bad(str("a block cannot be ", extent, " long"));
    }
    Layer layer{{grid, indices("crow"), indices("col")}, {}, {}, false};
    check(layer.pattern);
    if (values.shape[0] != layer.pattern.kept()) {
      throw bad(str("has values of ", values.shape[0], " blocks and columns of ", layer.pattern.kept()));
    }
    if (values.elements() > kMaxValues) throw bad("has too many values");
    layer.values = numbers(values);
    layer.bf16 = values.type == io::DType::kBF16;
    layer.bias = numbers(tensor("bias", 1));
    if (static_cast<int64_t>(layer.bias.size()) != cols) {
      throw bad(str("has a bias of ", layer.bias.size(), " for ", cols, " outputs"));
    }
    return layer;
  }

  Table read_table(int64_t rows, int64_t width) const {
    const io::TensorView& values = tensor("table", 2);
    if (values.shape[0] != rows || values.shape[1] != width) {
      throw bad(
          str("has a table of ", values.shape[0], "x", values.shape[1], ", expected ", rows, "x", width));
    }
    return {numbers(values), values.type == io::DType::kBF16};
  }

 private:
  // Names come from the file: as JSON they stay on one line.
  Error bad(const std::string& what) const { return Error(str("layer ", Json(name_).dump(), " ", what)); }

  const io::TensorView& tensor(const char* part, size_t rank) const {
    const auto found = file_.tensors.find(name_ + "." + part);
    if (found == file_.tensors.end()) throw bad(str("has no tensor \"", part, "\""));
    if (found->second.shape.size() != rank)
      throw bad(str("its \"", part, "\" has not ", rank, " dimensions"));
    return found->second;
  }

  std::vector<int32_t> indices(const char* part) const {
    const io::TensorView& view = tensor(part, 1);
    if (view.type != io::DType::kI32) throw bad(str("its \"", part, "\" is not of type I32"));
    return copy_of<int32_t>(view);
  }

  std::vector<float> numbers(const io::TensorView& view) const {
    if (view.type == io::DType::kF32) return copy_of<float>(view);
    if (view.type != io::DType::kBF16) throw bad("has numbers of a type other than F32 and BF16");
    const std::vector<uint16_t> halves = copy_of<uint16_t>(view);
    std::vector<float> out(halves.size());
    std::transform(halves.begin(), halves.end(), out.begin(),
                   [](uint16_t value) { return kernels::widen(value); });
    return out;
  }

  void check(const kernels::BsrPattern& pattern) const {
    const Grid& grid = pattern.grid;
    if (static_cast<int64_t>(pattern.begin.size()) != grid.col_blocks() + 1) {
      throw bad(str("has ", pattern.begin.size(), " offsets for ", grid.col_blocks(), " blocks of outputs"));
    }
    if (pattern.begin.front() != 0 || pattern.begin.back() != pattern.kept()) {
      throw bad("has offsets that do not span its blocks");
    }
    for (size_t i = 0; i + 1 < pattern.begin.size(); ++i) {
      const int32_t begin = pattern.begin[i];
      const int32_t end = pattern.begin[i + 1];
      // The first test also keeps `end` inside: what follows can only grow to the last one, which is right.
      if (end < begin || end > pattern.kept()) throw bad("has offsets that do not grow");
      for (int32_t k = begin; k < end; ++k) {
        const int32_t row = pattern.row[static_cast<size_t>(k)];
        const int32_t least = k == begin ? 0 : pattern.row[static_cast<size_t>(k) - 1] + 1;
        if (row < least || row >= grid.row_blocks())
          throw bad(str("has a block at ", row, ", out of order or outside"));
      }
    }
  }

  const io::SafetensorsFile& file_;
  const std::string& name_;
};

const std::string& metadata(const io::SafetensorsFile& file, const char* key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) throw Error(str("has no metadata \"", key, "\": it is no hewn model"));
  return found->second;
}

ModelData parse(const io::SafetensorsFile& file, const Limits& limits) {
  if (metadata(file, "hewn.format") != kVersion) {
    throw Error(str("is of another format version than ", kVersion, ", which this program reads"));
  }
  ModelData model;
  model.model = metadata(file, "hewn.model");
  model.method = metadata(file, "hewn.method");
  const Json graph = parse_shallow<Json>(metadata(file, "hewn.graph"), kGraphDepth);
  if (graph.is_discarded()) throw Error("its graph is not valid JSON");
  model.graph = graph_from_json(graph);
  const std::vector<Shape> shapes = infer_shapes(model.graph, limits);
  for (size_t i = 0; i < model.graph.nodes.size(); ++i) {
    const Node& node = model.graph.nodes[i];
    if (node.op == Op::kBatchNorm) throw Error("holds a batch norm that was not folded");
    if (!has_weight(node) && node.op != Op::kEmbedding) continue;
    if (model.layers.contains(node.name) || model.tables.contains(node.name))
      throw Error(str("layer ", Json(node.name).dump(), " is there twice"));
    const Shape& in = shapes[static_cast<size_t>(node.inputs[0])];
    if (node.op == Op::kEmbedding) {
      model.tables[node.name] = LayerReader(file, node.name).read_table(table_rows(node), node.width);
      continue;
    }
    model.layers[node.name] = LayerReader(file, node.name).read(weight_rows(node, in), node.outputs);
  }
  if (file.tensors.size() != 4 * model.layers.size() + model.tables.size())
    throw Error("holds tensors that no layer uses");
  const Shape& in = model.graph.nodes.front().shape;
  if (metadata(file, "hewn.input") != to_string(in) ||
      metadata(file, "hewn.outputs") != std::to_string(shapes.back().elements())) {
    throw Error("its graph has another input or output than its metadata says");
  }
  return model;
}

}  // namespace

void write_model(const std::filesystem::path& path, const ModelData& model, io::DType type) {
  std::map<std::string, io::TensorView> tensors;
  std::vector<std::vector<uint16_t>> halves;
  const auto add_numbers = [&](const std::string& name, const std::vector<int64_t>& shape,
                               const std::vector<float>& values) {
    tensors[name] = {io::DType::kF32, shape, std::as_bytes(std::span(values))};
    if (type != io::DType::kBF16) return;
    std::vector<uint16_t>& half = halves.emplace_back(values.size());
    std::transform(values.begin(), values.end(), half.begin(), kernels::bf16_from);
    tensors[name] = {io::DType::kBF16, shape, std::as_bytes(std::span(half))};
  };
  for (const auto& [name, layer] : model.layers) {
    const kernels::BsrPattern& pattern = layer.pattern;
    tensors[name + ".crow"] = {io::DType::kI32,
                               {static_cast<int64_t>(pattern.begin.size())},
                               std::as_bytes(std::span(pattern.begin))};
    tensors[name + ".col"] = {io::DType::kI32, {pattern.kept()}, std::as_bytes(std::span(pattern.row))};
    add_numbers(name + ".values", {pattern.kept(), pattern.grid.block.cols, pattern.grid.block.rows},
                layer.values);
    tensors[name + ".bias"] = {
        io::DType::kF32, {static_cast<int64_t>(layer.bias.size())}, std::as_bytes(std::span(layer.bias))};
  }
  const Shape output = infer_shapes(model.graph, {}).back();
  for (const Node& node : model.graph.nodes) {
    if (node.op != Op::kEmbedding) continue;
    add_numbers(node.name + ".table", {table_rows(node), node.width}, model.tables.at(node.name).values);
  }
  io::write_safetensors(path,
                        {{"hewn.format", kVersion},
                         {"hewn.graph", to_json(model.graph).dump()},
                         {"hewn.model", model.model},
                         {"hewn.method", model.method},
                         {"hewn.input", to_string(model.graph.nodes.front().shape)},
                         {"hewn.outputs", std::to_string(output.elements())}},
                        tensors, /*sealed=*/true);
}

ModelData parse_model(std::string bytes, const std::string& where, const Limits& limits, bool sealed) {
  const io::SafetensorsFile file = io::parse_safetensors(std::move(bytes), where, sealed);
  try {
    return parse(file, limits);
  } catch (const Error& error) {
    throw FormatError(where, error.what());
  }
}

ModelData read_model(const std::filesystem::path& path, const Limits& limits) {
  return parse_model(read_file(path), path.string(), limits);
}

}  // namespace hewn::runtime
