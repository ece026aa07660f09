#include "hewn/flow/int8/observe.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "hewn/core/error.h"
#include "hewn/flow/network.h"

namespace hewn::flow {
namespace {

constexpr int64_t kBins = 8192;

/// How often numbers fell into each of equal parts of what a value reaches.
struct Histogram {
  Extent extent;
  std::array<int64_t, kBins> counts{};
  int64_t all = 0;

  double width() const { return (double{extent.most} - extent.least) / kBins; }

  void add(std::span<const float> numbers) {
    const double step = width();
    if (!(step > 0)) return;
    for (const float number : numbers) {
      const double bin = (double{number} - extent.least) / step;
      ++counts[static_cast<size_t>(std::clamp(bin, 0.0, double{kBins - 1}))];
    }
    all += static_cast<int64_t>(numbers.size());
  }

  /// Without as many at each end as the percentile leaves out.
  Extent within(double percentile) const {
    const auto most_left = static_cast<int64_t>(static_cast<double>(all) * (1 - percentile / 100));
    Extent out = extent;
    int64_t left = 0;
    for (int64_t bin = 0; bin < kBins; ++bin) {
      left += counts[static_cast<size_t>(bin)];
      if (left > most_left) break;
      out.least = std::min(0.0F, static_cast<float>(extent.least + width() * static_cast<double>(bin + 1)));
    }
    left = 0;
    for (int64_t bin = kBins - 1; bin >= 0; --bin) {
      left += counts[static_cast<size_t>(bin)];
      if (left > most_left) break;
      out.most = std::max(0.0F, static_cast<float>(extent.least + width() * static_cast<double>(bin)));
    }
    return out;
  }
};

/// Calls body(value, numbers) for what the graph makes of each batch.
template <class Body>
void each_value(Network& network, const std::vector<int32_t>& values, size_t outputs,
                const std::vector<std::vector<Tensor>>& batches, const Body& body) {
  for (const std::vector<Tensor>& batch : batches) {
    const std::vector<Tensor> made = network.run(batch);
    for (size_t i = 0; i < values.size(); ++i) body(values[i], made[outputs + i].values<float>());
  }
}

}  // namespace

std::map<int32_t, Extent> observe(const Graph& graph, const std::vector<int32_t>& values,
                                  const std::vector<std::vector<Tensor>>& batches, double percentile,
                                  int threads) {
  Graph open = graph;
  for (const int32_t value : values) open.outputs.push_back({value, {Type::kFloat, {}}});
  Network network(std::move(open));
  network.set_threads(threads);
  const size_t outputs = graph.outputs.size();
  std::map<int32_t, Extent> out;
  each_value(network, values, outputs, batches, [&](int32_t value, std::span<const float> numbers) {
    Extent& extent = out[value];
    for (const float number : numbers) {
      if (!std::isfinite(number)) throw Error("calibration: numbers inside the network are not finite");
      extent.least = std::min(extent.least, number);
      extent.most = std::max(extent.most, number);
    }
  });
  if (percentile >= 100) return out;
  std::map<int32_t, Histogram> histograms;
  for (const auto& [value, extent] : out) histograms[value].extent = extent;
  each_value(network, values, outputs, batches,
             [&](int32_t value, std::span<const float> numbers) { histograms[value].add(numbers); });
  for (auto& [value, extent] : out) extent = histograms[value].within(percentile);
  return out;
}

}  // namespace hewn::flow
