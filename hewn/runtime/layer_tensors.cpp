#include "hewn/runtime/layer_tensors.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "hewn/core/error.h"
#include "hewn/kernels/packed.h"
#include "hewn/runtime/node_json.h"

namespace hewn::runtime {
namespace {

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

  Error bad(const std::string& what) const { return Error(str("layer ", in_quotes(name_), " ", what)); }

  /// Without a bias where the file has none.
  Layer read(int64_t rows, int64_t cols) {
    const io::TensorView& values = weights("values", 3);
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
    const io::TensorView* bias = find("bias", 1);
    if (bias != nullptr) layer.bias = numbers(*bias);
    if (bias != nullptr && static_cast<int64_t>(layer.bias.size()) != cols) {
      throw bad(str("has a bias of ", layer.bias.size(), " for ", cols, " outputs"));
    }
    return layer;
  }

  Table read_table(int64_t rows, int64_t width) {
    const io::TensorView& values = weights("table", 2);
    if (values.shape[0] != rows || values.shape[1] != width) {
      throw bad(
          str("has a table of ", values.shape[0], "x", values.shape[1], ", expected ", rows, "x", width));
    }
    return {numbers(values), values.type == io::DType::kBF16};
  }

  /// Tensors of the file that were read.
  size_t used() const { return used_; }

 private:
  /// Values of a weight or a table.
  const io::TensorView& weights(const char* part, size_t rank) {
    const io::TensorView& view = tensor(part, rank);
    if (view.type == io::DType::kI8) throw bad("has int8 weights, which this version of hewn cannot run");
    return view;
  }

  const io::TensorView* find(const char* part, size_t rank) {
    const auto found = file_.tensors.find(name_ + "." + part);
    if (found == file_.tensors.end()) return nullptr;
    if (found->second.shape.size() != rank)
      throw bad(str("its \"", part, "\" has not ", rank, " dimensions"));
    ++used_;
    return &found->second;
  }

  const io::TensorView& tensor(const char* part, size_t rank) {
    const io::TensorView* view = find(part, rank);
    if (view == nullptr) throw bad(str("has no tensor \"", part, "\""));
    return *view;
  }

  std::vector<int32_t> indices(const char* part) {
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
  size_t used_ = 0;
};

}  // namespace

void read_layers(const io::SafetensorsFile& file, const std::vector<Shape>& shapes, int64_t most_zeros,
                 ModelData& model) {
  size_t used = 0;
  for (const Node& node : model.graph.nodes) {
    if (node.op == Op::kBatchNorm) throw Error("holds a batch norm that was not folded");
    if (!has_weight(node) && !has_table(node)) continue;
    if (model.layers.contains(node.name) || model.tables.contains(node.name))
      throw Error(str("layer ", in_quotes(node.name), " is there twice"));
    LayerReader reader(file, node.name);
    if (has_table(node)) {
      model.tables[node.name] = reader.read_table(table_rows(node), node.width);
    } else {
      const Shape& in = shapes[static_cast<size_t>(node.inputs[0])];
      Layer& layer = model.layers[node.name] = reader.read(weight_rows(node, in), node.outputs);
      if (layer.bias.empty()) {
        most_zeros -= node.outputs;
        if (most_zeros < 0) throw reader.bad("has no tensor \"bias\"");
        layer.bias.resize(static_cast<size_t>(node.outputs));
      }
    }
    used += reader.used();
  }
  if (used + model.arrays.size() != file.tensors.size()) throw Error("holds tensors that no layer uses");
}

LayerTensors layer_tensors(const ModelData& model, io::DType type) {
  LayerTensors out;
  const auto add_numbers = [&](const std::string& name, const std::vector<int64_t>& shape,
                               const std::vector<float>& values) {
    out.views[name] = {io::DType::kF32, shape, std::as_bytes(std::span(values))};
    if (type != io::DType::kBF16) return;
    std::vector<uint16_t>& half = out.halves.emplace_back(values.size());
    std::transform(values.begin(), values.end(), half.begin(), kernels::bf16_from);
    out.views[name] = {io::DType::kBF16, shape, std::as_bytes(std::span(half))};
  };
  for (const auto& [name, layer] : model.layers) {
    const kernels::BsrPattern& pattern = layer.pattern;
    out.views[name + ".crow"] = {io::DType::kI32,
                                 {static_cast<int64_t>(pattern.begin.size())},
                                 std::as_bytes(std::span(pattern.begin))};
    out.views[name + ".col"] = {io::DType::kI32, {pattern.kept()}, std::as_bytes(std::span(pattern.row))};
    add_numbers(name + ".values", {pattern.kept(), pattern.grid.block.cols, pattern.grid.block.rows},
                layer.values);
    out.views[name + ".bias"] = {
        io::DType::kF32, {static_cast<int64_t>(layer.bias.size())}, std::as_bytes(std::span(layer.bias))};
  }
  for (const Node& node : model.graph.nodes) {
    if (!has_table(node)) continue;
    add_numbers(node.name + ".table", {table_rows(node), node.width}, model.tables.at(node.name).values);
  }
  return out;
}

}  // namespace hewn::runtime
