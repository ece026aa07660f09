#include "hewn/flow/int8/byte_weights.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "hewn/kernels/int8/byte_tile.h"

namespace hewn::flow {
namespace {

constexpr float kMostByte = 127;
/// Outputs with weights below this are zero: what scales are divided by stays a float.
constexpr float kLeastScale = 0x1p-60F;

/// Where each weight lies: of output j, tap t and channel c.
struct Layout {
  int64_t outputs = 0;
  int64_t taps = 1;
  int64_t channels = 0;
  int64_t output_stride = 0;
  int64_t tap_stride = 0;
  int64_t channel_stride = 0;

  int64_t at(int64_t j, int64_t t, int64_t c) const {
    return j * output_stride + t * tap_stride + c * channel_stride;
  }
  template <class Body>
  void each(int64_t j, const Body& body) const {
    for (int64_t t = 0; t < taps; ++t) {
      for (int64_t c = 0; c < channels; ++c) body(static_cast<size_t>(at(j, t, c)));
    }
  }
};

Layout layout_of(const Dims& dims, WeightKind kind) {
  if (kind == WeightKind::kInOut) return {dims[1], 1, dims[0], 1, 0, dims[1]};
  int64_t taps = 1;
  for (size_t d = 2; d < dims.size(); ++d) taps *= dims[d];
  return {dims[0], taps, dims[1], dims[1] * taps, 1, taps};
}

/// The largest weight of an output in size, or sum of a pair of channels of one sign. Rounded, pairs then sum
/// to 128 at most: 255 times that fits 16 bits, so that instructions which add pairs there need no second
/// product (ByteWeight would cut them in two).
float reach_of(const Layout& layout, std::span<const float> values, int64_t j) {
  float most = 0;
  for (int64_t t = 0; t < layout.taps; ++t) {
    for (int64_t c = 0; c < layout.channels; c += 2) {
      const float a = values[static_cast<size_t>(layout.at(j, t, c))];
      const float b = c + 1 < layout.channels ? values[static_cast<size_t>(layout.at(j, t, c + 1))] : 0.0F;
      const float above = std::max(a, 0.0F) + std::max(b, 0.0F);
      const float below = std::min(a, 0.0F) + std::min(b, 0.0F);
      most = std::max({most, above, -below});
    }
  }
  return most;
}

}  // namespace

int64_t output_axis(WeightKind kind) { return kind == WeightKind::kInOut ? 1 : 0; }

WeightOf byte_weight_of(const Graph& graph, const Node& node) {
  const WeightOf weight = weight_of(graph, node);
  if (weight.tensor == nullptr) return {};
  const auto found = graph.weight_bytes.find(node.inputs[1]);
  if (found == graph.weight_bytes.end() || found->second.axis != output_axis(weight.kind)) return {};
  const Layout layout = layout_of(weight.tensor->dims(), weight.kind);
  if (static_cast<int64_t>(found->second.scales.size()) != layout.outputs) return {};
  if (layout.taps * layout.channels > kernels::kMostByteRows) return {};
  const bool cut = layout.channels % kernels::kWordChannels != 0 ||
                   layout.outputs / weight.groups % kernels::kWordChannels != 0;
  return weight.groups > 1 && cut ? WeightOf{} : weight;
}

std::vector<int8_t> bytes_of(const Tensor& tensor, const WeightBytes& bytes, WeightKind kind) {
  const Layout layout = layout_of(tensor.dims(), kind);
  const auto values = tensor.values<float>();
  std::vector<int8_t> out;
  out.reserve(values.size());
  for (int64_t j = 0; j < layout.outputs; ++j) {
    const float scale = bytes.scales[static_cast<size_t>(j)];
    layout.each(j, [&](size_t at) {
      out.push_back(
          static_cast<int8_t>(std::clamp(std::nearbyint(values[at] / scale), -kMostByte, kMostByte)));
    });
  }
  return out;
}

void put_bytes(const std::vector<int8_t>& values, const WeightBytes& bytes, WeightKind kind, Tensor& tensor) {
  const Layout layout = layout_of(tensor.dims(), kind);
  auto to = tensor.values<float>();
  size_t next = 0;
  for (int64_t j = 0; j < layout.outputs; ++j) {
    const float scale = bytes.scales[static_cast<size_t>(j)];
    layout.each(j, [&](size_t at) { to[at] = scale * static_cast<float>(values[next++]); });
  }
}

WeightBytes round_to_bytes(Tensor& tensor, WeightKind kind) {
  const Layout layout = layout_of(tensor.dims(), kind);
  auto values = tensor.values<float>();
  WeightBytes out{output_axis(kind), {}};
  for (int64_t j = 0; j < layout.outputs; ++j) {
    const float scale = std::max(reach_of(layout, values, j) / kMostByte, kLeastScale);
    layout.each(j, [&](size_t at) {
      values[at] = scale * std::clamp(std::nearbyint(values[at] / scale), -kMostByte, kMostByte);
    });
    out.scales.push_back(scale);
  }
  return out;
}

std::shared_ptr<const ByteWeights> WeightCache::get_bytes(const Tensor& tensor, const WeightBytes& bytes,
                                                          WeightKind kind, int64_t groups) {
  auto& weights = byte_weights_[{tensor.identity(), static_cast<int64_t>(kind) + 4 * groups}];
  if (weights != nullptr) return weights;
  const Layout layout = layout_of(tensor.dims(), kind);
  const std::vector<int8_t> values = bytes_of(tensor, bytes, kind);
  auto out = std::make_shared<ByteWeights>();
  const int64_t outputs = layout.outputs / groups;
  for (int64_t g = 0; g < groups; ++g) {
    out->emplace_back(kernels::ByteMatrix{values.data() + g * outputs * layout.taps * layout.channels,
                                          outputs, layout.taps, layout.channels},
                      kernels::byte_machine().split, kernels::byte_machine().matrix_of_one != nullptr);
  }
  weights = std::move(out);
  return weights;
}

}  // namespace hewn::flow
