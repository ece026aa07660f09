// What does pruning cost per training step on a GPU? ResNet-50 on images that lie there already, bf16,
// channels-last: the dense step, and steps of sa++ in each phase. One network at a time, since a large batch
// fills the memory; the dense step is timed first and last, so that a drift shows.
//
// usage: bench_gpu_step BATCH [GROUPS]: GROUPS (default 12) groups of 10 steps are timed per row
#include <ATen/ATen.h>

#include <cstdio>
#include <cstdlib>

#include "bench/gpu_step/trainer.h"
#include "hewn/core/error.h"
#include "hewn/core/json.h"
#include "hewn/tensor/device.h"

namespace hewn::bench {
namespace {

Json measure(int64_t batch_size, int groups, bool graphs) {
  const train::RecordableStream stream(tensor::find_device("cuda"));
  const auto on_gpu = at::TensorOptions(at::kCUDA);
  const data::Batch batch = {
      at::randn({batch_size, 3, 224, 224}, on_gpu).contiguous(at::MemoryFormat::ChannelsLast),
      at::randint(1000, {batch_size}, on_gpu.dtype(at::kLong))};
  run::Options options;
  options.model = "resnet50";
  options.prune.sparsity = 0.9;
  const nn::Signature signature{{3, 224, 224}, 1000};
  std::vector<StepRow> rows;
  const auto dense = [&](const char* name) {
    options.prune.method = "dense";
    options.prune.score.reset();
    rows.push_back(Trainer(options, signature, graphs).time(name, prune::Phase::kDense, batch, groups));
  };
  dense("dense");
  for (const char* score : {"attention", "gated-norm"}) {
    options.prune.method = "sa++";
    options.prune.score = score;
    Trainer pruned(options, signature, graphs);
    const std::string prefix = str("sa++, ", score, ", ");
    rows.push_back(pruned.time(prefix + "DENSE", prune::Phase::kDense, batch, groups));
    rows.push_back(pruned.time(prefix + "SPARSIFICATION", prune::Phase::kSparsification, batch, groups));
    rows.push_back(pruned.time(prefix + "SPARSE", prune::Phase::kSparse, batch, groups));
  }
  dense("dense again");
  const double base = (rows.front().ms + rows.back().ms) / 2;
  Json out = Json::array();
  for (const StepRow& row : rows) {
    std::printf("  batch %5ld %-9s %-36s %8.3f ms  %6.3f x  (groups differ by %.1f %%)\n",
                static_cast<long>(batch_size), graphs ? "recorded" : "launched", row.name.c_str(), row.ms,
                row.ms / base, 100 * (row.spread - 1));
    out.push_back({{"name", row.name}, {"ms", row.ms}, {"ratio", row.ms / base}, {"spread", row.spread}});
  }
  std::fflush(stdout);
  return {{"batch", batch_size}, {"graphs", graphs}, {"rows", out}};
}

}  // namespace
}  // namespace hewn::bench

int main(int argc, char** argv) try {
  if (argc < 2) throw hewn::Error("usage: bench_gpu_step BATCH [GROUPS]");
  const int64_t batch = std::atoll(argv[1]);
  const int groups = argc > 2 ? std::atoi(argv[2]) : 12;
  hewn::Json all = hewn::Json::array();
  for (const bool graphs : {true, false}) all.push_back(hewn::bench::measure(batch, groups, graphs));
  std::printf("%s\n", all.dump().c_str());
} catch (const std::exception& problem) {
  std::fprintf(stderr, "bench_gpu_step: %s\n", problem.what());
  return 1;
}
