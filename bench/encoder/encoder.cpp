// What a step of the transformer example takes in its last phase, with 80 and 90 % of its blocks gone: layers
// of hewn::nn that run dense behind a gate against the same on their kept blocks. Interleaved; medians of
// per-round ratios.
#include "examples/encoder.h"

#include <malloc.h>

#include <cstdio>
#include <memory>

#include "hewn/core/json.h"
#include "hewn/measure/interleave.h"
#include "hewn/optimiser.h"
#include "hewn/tensor/device.h"

namespace hewn::bench {
namespace {

/// The encoder in the middle of its SPARSE phase.
struct Trainer {
  Encoder net;
  std::unique_ptr<Pruner> pruner;
  std::unique_ptr<Optimiser> optimiser;

  Trainer(const std::string& method, double sparsity, const std::string& execution) {
    pruner = std::make_unique<Pruner>(net, PrunerOptions{.method = method,
                                                         .sparsity = sparsity,
                                                         .steps = 1000,
                                                         .min_blocks = 32,
                                                         .sparse_execution = execution});
    optimiser = std::make_unique<Optimiser>(*pruner, OptimiserOptions{.kind = "adamw"});
    pruner->algorithm().advance(950);
  }
  void step(const at::Tensor& x, const at::Tensor& y) {
    pruner->show();
    optimiser->zero_grad();
    at::cross_entropy_loss(net.forward(x), y).backward();
    optimiser->step(1e-4);
  }
};

Json step_times(double sparsity, int64_t threads) {
  const int64_t used = tensor::set_threads(threads);
  const auto [x, y] = sequences(64);
  Trainer dense("dense", sparsity, "off");
  Trainer gated("sa++r", sparsity, "off");
  Trainer kept("sa++r", sparsity, "on");
  const auto timings = measure::interleave({{"dense", [&] { dense.step(x, y); }},
                                            {"SPARSE, behind a gate", [&] { gated.step(x, y); }},
                                            {"SPARSE, on kept blocks", [&] { kept.step(x, y); }}},
                                           {40, measure::clock_for(used), 0});
  std::printf("\n%.0f %% of the blocks gone, %ld threads\n", 100 * sparsity, static_cast<long>(used));
  Json rows = Json::array();
  for (const measure::Timing& t : timings) {
    const measure::Spread ratio = measure::ratio(t, timings[0]);
    std::printf("  %-26s %8.2f ms   %.3f x  [%.3f, %.3f]\n", t.name.c_str(), t.median_ms(), ratio.median,
                ratio.low, ratio.high);
    rows.push_back({{"name", t.name}, {"ms", t.median_ms()}, {"ratio", ratio.median}});
  }
  return {{"sparsity", sparsity}, {"threads", used}, {"rows", rows}};
}

}  // namespace
}  // namespace hewn::bench

int main() {
  // As the hewn program does: the same allocator for all contenders.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  at::manual_seed(0);
  hewn::Json out = hewn::Json::array();
  for (const double sparsity : {0.8, 0.9}) {
    for (const int64_t threads : {1, 2}) out.push_back(hewn::bench::step_times(sparsity, threads));
  }
  std::printf("%s\n", out.dump().c_str());
}
