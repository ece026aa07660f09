#include "tests/runtime/models.h"

#include <cmath>
#include <limits>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/kernels/reference/conv.h"
#include "hewn/kernels/reference/linear.h"
#include "tests/support/temp_folder.h"

namespace hewn::runtime {
namespace {

using Array = std::vector<float>;

/// The weight as out x in x taps, zeros outside the kept blocks.
Array dense(const Node& node, const Layer& layer) {
  const Grid& grid = layer.pattern.grid;
  Array out(static_cast<size_t>(grid.elements()));
  scatter_blocks(layer.pattern, {grid, node.window.taps()}, layer.values.data(), out.data(), 0,
                 grid.col_blocks());
  return out;
}

/// Calls body(sample and channel, y, x) for every element.
template <class Body>
void each(int64_t planes, const Shape& shape, const Body& body) {
  for (int64_t p = 0; p < planes; ++p)
    for (int64_t y = 0; y < shape.height; ++y)
      for (int64_t x = 0; x < shape.width; ++x) body(p, y, x);
}

size_t at(const Shape& shape, int64_t plane, int64_t y, int64_t x) {
  return static_cast<size_t>((plane * shape.height + y) * shape.width + x);
}

Array pool(const Node& node, const Array& in, const Shape& from, const Shape& to, int64_t batch) {
  Array out(static_cast<size_t>(batch * to.elements()));
  each(batch * to.channels, to, [&](int64_t p, int64_t y, int64_t x) {
    float most = -std::numeric_limits<float>::infinity();
    for (int64_t ky = 0; ky < node.window.kernel_height; ++ky) {
      for (int64_t kx = 0; kx < node.window.kernel_width; ++kx) {
        const int64_t iy = y * node.window.stride - node.window.padding + ky * node.window.dilation;
        const int64_t ix = x * node.window.stride - node.window.padding + kx * node.window.dilation;
        if (iy < 0 || ix < 0 || iy >= from.height || ix >= from.width) continue;
        most = std::max(most, in[at(from, p, iy, ix)]);
      }
    }
    out[at(to, p, y, x)] = most;
  });
  return out;
}

Array average(const Array& in, const Shape& from, int64_t batch) {
  std::vector<double> sums(static_cast<size_t>(batch * from.channels));
  each(batch * from.channels, from, [&](int64_t p, int64_t y, int64_t x) {
    sums[static_cast<size_t>(p)] += static_cast<double>(in[at(from, p, y, x)]);
  });
  Array out;
  for (const double sum : sums)
    out.push_back(static_cast<float>(sum / static_cast<double>(from.height * from.width)));
  return out;
}

Array subsample(const Node& node, const Array& in, const Shape& from, const Shape& to, int64_t batch) {
  Array out(static_cast<size_t>(batch * to.elements()));
  each(batch * to.channels, to, [&](int64_t p, int64_t y, int64_t x) {
    const int64_t channel = p % to.channels - node.pad[0];
    if (channel < 0 || channel >= from.channels) return;
    out[at(to, p, y, x)] = in[at(from, p / to.channels * from.channels + channel, y * node.window.stride,
                                 x * node.window.stride)];
  });
  return out;
}

Array look_up(const Node& node, const Table& table, const Array& in, int64_t batch) {
  Array out;
  for (int64_t n = 0; n < batch; ++n) {
    int64_t first = 0;
    for (size_t f = 0; f < node.vocabularies.size(); ++f) {
      const int64_t row = first + std::lround(in[static_cast<size_t>(n) * node.vocabularies.size() + f]);
      for (int64_t d = 0; d < node.width; ++d) {
        out.push_back(table.values.at(static_cast<size_t>(row * node.width + d)));
      }
      first += node.vocabularies[f];
    }
  }
  return out;
}

}  // namespace

ModelData with_weights(const Graph& graph, BlockShape block, Pattern pattern) {
  ModelData model;
  model.model = "test";
  model.method = "none";
  model.graph = graph;
  const std::vector<Shape> shapes = infer_shapes(graph, {});
  uint64_t seed = 100;
  for (const Node& node : graph.nodes) {
    if (node.op == Op::kEmbedding) {
      model.tables[node.name].values = numbers(table_rows(node) * node.width, ++seed);
    }
    if (!has_weight(node)) continue;
    const Grid grid{weight_rows(node, shapes[static_cast<size_t>(node.inputs[0])]), node.outputs, block};
    Layer& layer = model.layers[node.name];
    layer.pattern = kernels::make_pattern(grid, support_of(grid, pattern).data());
    const Array weight = numbers(grid.elements(), ++seed);
    layer.values.resize(static_cast<size_t>(layer.pattern.value_floats()));
    gather_blocks(layer.pattern, {grid, 1}, weight.data(), nullptr, layer.values.data(), 0,
                  grid.col_blocks());
    layer.bias = numbers(node.outputs, ++seed);
  }
  return model;
}

std::vector<float> by_definition(const ModelData& model, const std::vector<float>& input, int64_t batch) {
  const std::vector<Shape> shapes = infer_shapes(model.graph, {});
  std::vector<Array> values;
  for (size_t i = 0; i < model.graph.nodes.size(); ++i) {
    const Node& node = model.graph.nodes[i];
    const Shape& to = shapes[i];
    const Shape from = node.inputs.empty() ? to : shapes[static_cast<size_t>(node.inputs[0])];
    const Array* in = node.inputs.empty() ? &input : &values[static_cast<size_t>(node.inputs[0])];
    Array out = *in;
    switch (node.op) {
      case Op::kLinear: {
        const Layer& layer = model.layers.at(node.name);
        out.assign(static_cast<size_t>(batch * to.elements()), 0);
        kernels::reference::linear(batch, from.channels, to.channels, in->data(), dense(node, layer).data(),
                                   layer.bias.data(), out.data());
        break;
      }
      case Op::kConv2d: {
        const Layer& layer = model.layers.at(node.name);
        out.assign(static_cast<size_t>(batch * to.elements()), 0);
        kernels::reference::conv({node.window, batch, from.channels, from.height, from.width, to.channels},
                                 in->data(), dense(node, layer).data(), layer.bias.data(), out.data());
        break;
      }
      case Op::kRelu:
        for (float& value : out) value = std::max(value, 0.0F);
        break;
      case Op::kAdd:
        for (size_t k = 0; k < out.size(); ++k) out[k] += values[static_cast<size_t>(node.inputs[1])][k];
        break;
      case Op::kMaxPool:
        out = pool(node, *in, from, to, batch);
        break;
      case Op::kGlobalAvgPool:
        out = average(*in, from, batch);
        break;
      case Op::kSubsample:
        out = subsample(node, *in, from, to, batch);
        break;
      case Op::kEmbedding:
        out = look_up(node, model.tables.at(node.name), *in, batch);
        break;
      case Op::kInput:
      case Op::kFlatten:
      case Op::kBatchNorm:
        break;
      default:
        throw Error(str("the test has no definition of ", name_of(node.op)));
    }
    values.push_back(out);
  }
  return values.back();
}

std::vector<float> inputs_for(const Graph& graph, int64_t batch, uint64_t stream) {
  std::vector<float> out = numbers(batch * graph.nodes.front().shape.elements(), stream);
  if (!takes_values(graph)) return out;
  const std::vector<int64_t>& sizes = graph.nodes.at(1).vocabularies;
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = std::floor((out[i] + 0.5F) * static_cast<float>(sizes[i % sizes.size()]));
  }
  return out;
}

std::vector<NamedGraph> sample_graphs() {
  std::vector<NamedGraph> out;
  const auto graph = [&](const char* name) -> Graph& { return out.emplace_back(NamedGraph{name, {}}).graph; };
  {
    Graph& g = graph("mlp");
    const int32_t x = g.flatten(g.input({1, 7, 9}));
    g.linear("c", g.relu(g.linear("b", g.relu(g.linear("a", x, 37)), 50)), 10);
  }
  {
    Graph& g = graph("long inputs in chunks, added to");  // more than 2048 rows
    const int32_t x = g.flatten(g.input({5, 30, 30}));
    const int32_t a = g.linear("a", x, 21);
    g.relu(g.add(g.linear("b", x, 21), a));
  }
  {
    Graph& g = graph("one convolution");
    g.conv2d("a", g.input({3, 6, 5}), 7, {3, 3, 1, 1, 1});
  }
  {
    Graph& g = graph("stride, dilation and an oblong kernel");
    g.conv2d("b", g.conv2d("a", g.input({4, 13, 11}), 9, {3, 2, 2, 1, 2}), 5, {1, 3, 1, 2, 1});
  }
  {
    Graph& g = graph("residual with an identity");
    const int32_t x = g.relu(g.conv2d("stem", g.input({3, 8, 8}), 16, {3, 3, 1, 1, 1}));
    const int32_t y =
        g.relu(g.add(g.conv2d("b", g.relu(g.conv2d("a", x, 16, {3, 3, 1, 1, 1})), 16, {3, 3, 1, 1, 1}), x));
    g.linear("fc", g.global_avg_pool(y), 10);
  }
  {
    Graph& g = graph("residual with a convolution, main path first");
    const int32_t x = g.relu(g.conv2d("stem", g.input({3, 9, 9}), 8, {3, 3, 1, 1, 1}));
    const int32_t main = g.conv2d("b", g.relu(g.conv2d("a", x, 12, {3, 3, 2, 1, 1})), 12, {3, 3, 1, 1, 1});
    const int32_t side = g.conv2d("side", x, 12, {1, 1, 2, 0, 1});
    const int32_t y = g.relu(g.add(main, side));
    g.linear("fc", g.flatten(g.conv2d("c", y, 3, {5, 5, 1, 2, 1})), 4);
  }
  {
    Graph& g = graph("option A shortcut");
    const int32_t x = g.relu(g.conv2d("stem", g.input({3, 7, 6}), 4, {3, 3, 1, 1, 1}));
    const int32_t side = g.subsample(x, 2, {2, 2});
    const int32_t main = g.conv2d("b", g.relu(g.conv2d("a", x, 8, {3, 3, 2, 1, 1})), 8, {3, 3, 1, 1, 1});
    g.global_avg_pool(g.relu(g.add(main, side)));
  }
  {
    Graph& g = graph("pooling");
    const int32_t x = g.conv2d("a", g.input({2, 12, 11}), 6, {7, 7, 2, 3, 1});
    g.max_pool(g.conv2d("b", g.max_pool(x, {3, 3, 2, 1, 1}), 4, {3, 3, 1, 1, 1}), {2, 2, 1, 0, 1});
  }
  {
    Graph& g = graph("adds and relus that nothing can take along");
    const int32_t in = g.input({5, 4, 4});
    const int32_t a = g.conv2d("a", in, 5, {3, 3, 1, 1, 1});
    const int32_t twice = g.add(g.relu(a), a);
    const int32_t b = g.conv2d("b", g.add(twice, twice), 5, {5, 5, 1, 2, 1});
    g.add(g.relu(g.relu(b)), g.add(in, g.relu(in)));
  }
  {
    Graph& g = graph("a vector with a border");
    const int32_t x = g.linear("a", g.flatten(g.input({3, 2, 2})), 6);
    g.add(g.conv2d("b", x, 6, {3, 3, 1, 1, 1}), g.linear("c", x, 6));
  }
  {
    Graph& g = graph("x plus a convolution of x");
    const int32_t x = g.relu(g.conv2d("a", g.input({3, 5, 5}), 6, {3, 3, 1, 1, 1}));
    g.add(g.conv2d("b", x, 6, {3, 3, 1, 1, 1}), x);
  }
  graph("nothing").input({3, 4, 5});
  {
    Graph& g = graph("embedding");
    const int32_t x = g.embedding("e", g.input({5, 1, 1}), {7, 1, 300, 2, 11}, 3);
    g.linear("b", g.relu(g.linear("a", x, 20)), 2);
  }
  {
    Graph& g = graph("two embeddings, one with a border");
    const int32_t in = g.input({2, 1, 1});
    const int32_t wide = g.embedding("e", in, {9, 4}, 3);
    const int32_t deep = g.embedding("d", in, {9, 4}, 5);
    g.add(g.conv2d("a", g.relu(wide), 6, {3, 3, 1, 1, 1}), g.linear("b", deep, 6));
  }
  return out;
}

std::string bytes_of(const ModelData& model) {
  const test::TempFolder folder;
  write_model(folder / "model.hewn", model);
  return read_file(folder / "model.hewn");
}

}  // namespace hewn::runtime
