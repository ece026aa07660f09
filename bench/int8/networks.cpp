#include "bench/int8/networks.h"

#include <cmath>

#include "hewn/core/error.h"
#include "hewn/flow/composer.h"

namespace hewn::bench {
namespace {

using List = std::vector<int64_t>;

constexpr int64_t kBlock = 16;
constexpr int64_t kFewestBlocks = 100;

/// Numbers of a linear congruence: enough for timing.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 1) {}
  double share() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 40) / static_cast<double>(1ULL << 24);
  }

 private:
  uint64_t state_;
};

class Maker {
 public:
  explicit Maker(double density) : density_(density) {}

  /// outputs x channels x kernel x kernel, or outputs x channels; as large as keeps activations what they
  /// are.
  flow::Tensor weight(int64_t outputs, int64_t channels, int64_t kernel) {
    flow::Dims dims = {outputs, channels};
    if (kernel > 0) dims.insert(dims.end(), {kernel, kernel});
    flow::Tensor out(flow::Spec{flow::Type::kFloat, dims});
    const int64_t taps = kernel > 0 ? kernel * kernel : 1;
    const int64_t rows = (taps * channels + kBlock - 1) / kBlock;
    const int64_t columns = (outputs + kBlock - 1) / kBlock;
    std::vector<bool> kept(static_cast<size_t>(rows * columns), true);
    const bool pruned = rows * columns >= kFewestBlocks && density_ < 1;
    Dice dice(++made_);
    for (size_t i = 0; pruned && i < kept.size(); ++i) kept[i] = dice.share() < density_;
    const double size = std::sqrt(6.0 / (static_cast<double>(taps * channels) * (pruned ? density_ : 1)));
    auto values = out.values<float>();
    for (int64_t j = 0; j < outputs; ++j) {
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t t = 0; t < taps; ++t) {
          const int64_t block = (t * channels + c) / kBlock * columns + j / kBlock;
          const double value = size * (2 * dice.share() - 1);
          if (kept[static_cast<size_t>(block)]) {
            values[static_cast<size_t>((j * channels + c) * taps + t)] = static_cast<float>(value);
          }
        }
      }
    }
    return out;
  }

  int32_t conv(int32_t x, int64_t channels, int64_t outputs, int64_t kernel, int64_t stride) {
    const std::string name = str("conv", made_ + 1);
    return to.node("Conv", name,
                   {x, to.constant(name + ".weight", weight(outputs, channels, kernel)),
                    to.constant(name + ".bias", flow::Tensor(flow::Spec{flow::Type::kFloat, {outputs}}))},
                   {{"strides", List{stride, stride}},
                    {"pads", List(4, kernel / 2)},
                    {"kernel_shape", List{kernel, kernel}}});
  }
  int32_t relu(int32_t x) { return to.node("Relu", "", {x}); }
  int32_t linear(int32_t x, int64_t inputs, int64_t outputs) {
    const std::string name = str("fc", made_ + 1);
    return to.node("Gemm", name,
                   {x, to.constant(name + ".weight", weight(outputs, inputs, 0)),
                    to.constant(name + ".bias", flow::Tensor(flow::Spec{flow::Type::kFloat, {outputs}}))},
                   {{"transB", int64_t{1}}});
  }

  flow::Composer to;

 private:
  double density_;
  uint64_t made_ = 0;
};

flow::Graph resnet(double density, bool deep) {
  Maker m(density);
  int32_t x = m.to.input("input", {flow::Type::kFloat, {-1, 3, 224, 224}});
  x = m.relu(m.conv(x, 3, 64, 7, 2));
  x = m.to.node("MaxPool", "pool", {x},
                {{"kernel_shape", List{3, 3}}, {"strides", List{2, 2}}, {"pads", List(4, 1)}});
  const List blocks = deep ? List{3, 4, 6, 3} : List{2, 2, 2, 2};
  const int64_t widen = deep ? 4 : 1;
  int64_t channels = 64;
  for (size_t stage = 0; stage < 4; ++stage) {
    const int64_t width = int64_t{64} << stage;
    for (int64_t b = 0; b < blocks[stage]; ++b) {
      const int64_t stride = stage > 0 && b == 0 ? 2 : 1;
      int32_t y = x;
      if (deep) {
        y = m.relu(m.conv(y, channels, width, 1, 1));
        y = m.relu(m.conv(y, width, width, 3, stride));
        y = m.conv(y, width, widen * width, 1, 1);
      } else {
        y = m.relu(m.conv(y, channels, width, 3, stride));
        y = m.conv(y, width, width, 3, 1);
      }
      if (stride != 1 || channels != widen * width) x = m.conv(x, channels, widen * width, 1, stride);
      x = m.relu(m.to.node("Add", "", {y, x}));
      channels = widen * width;
    }
  }
  x = m.to.node("Flatten", "flat", {m.to.node("GlobalAveragePool", "mean", {x})}, {{"axis", int64_t{1}}});
  return m.to.finish(m.linear(x, channels, 1000), "output", {flow::Type::kFloat, {-1, 1000}});
}

flow::Graph mlp(double density) {
  Maker m(density);
  int32_t x = m.to.input("input", {flow::Type::kFloat, {-1, 784}});
  x = m.relu(m.linear(x, 784, 1024));
  x = m.relu(m.linear(x, 1024, 1024));
  return m.to.finish(m.linear(x, 1024, 10), "output", {flow::Type::kFloat, {-1, 10}});
}

}  // namespace

flow::Graph network_named(const std::string& name, double density) {
  if (name == "resnet50") return resnet(density, true);
  if (name == "resnet18") return resnet(density, false);
  if (name == "mlp") return mlp(density);
  throw Error(str("network: expected resnet50, resnet18 or mlp, got ", name));
}

flow::Tensor inputs_for(const flow::Graph& graph, int64_t batch, uint32_t seed) {
  flow::Spec spec = graph.inputs[0].spec;
  spec.dims[0] = batch;
  flow::Tensor out(spec);
  Dice dice(seed);
  for (float& x : out.values<float>()) x = static_cast<float>(2 * dice.share() - 1);
  return out;
}

}  // namespace hewn::bench
