// What does pruning cost per training step on a GPU? ResNet-50 on images that lie there already, bf16,
// channels-last: the dense step, and steps of sa++ in each phase. One network at a time, since a large batch
// fills the memory; the dense step is timed first and last, so that a drift shows.
//
// usage: bench_gpu_step BATCH [GROUPS]: GROUPS (default 12) groups of 10 steps are timed per row
#include <ATen/ATen.h>
#include <torch/cuda.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "hewn/core/error.h"
#include "hewn/core/json.h"
#include "hewn/dist/communicator.h"
#include "hewn/optimiser.h"
#include "hewn/run/options.h"
#include "hewn/run/recipe.h"
#include "hewn/tensor/device.h"
#include "hewn/train/network.h"
#include "hewn/train/step/step.h"

namespace hewn::bench {
namespace {

constexpr int64_t kSteps = 3000;
constexpr int kPerGroup = 10;

struct Row {
  std::string name;
  double ms = 0;
  double spread = 0;  // largest group over smallest
};

/// A network in training, with its pruner at any step.
class Trainer {
 public:
  Trainer(const run::Options& options, bool graphs)
      : device_(tensor::find_device("cuda")), model_(train::build_model(options, {{3, 224, 224}, 1000})) {
    train::move_to(*model_, device_, /*cudnn_benchmark=*/true);
    pruner_ = std::make_unique<Pruner>(*model_, run::pruner_options(options, kSteps));
    optimiser_ = std::make_unique<Optimiser>(*pruner_, run::optimiser_options(options));
    step_ = std::make_unique<train::Step>(
        train::StepParts{*model_, *pruner_, *optimiser_, dist::alone()},
        train::StepOptions{train::make_task(data::Kind::kImages, 0), 1, train::Precision::kBf16, graphs});
    model_->train();
  }

  /// Steps from the middle of the first phase of that name, after some that are not timed.
  Row time(const std::string& name, prune::Phase phase, const data::Batch& batch, int groups) {
    int64_t at = begin_of(phase);
    for (int i = 0; i < kPerGroup; ++i) train(at++, batch);
    std::vector<double> ms;
    for (int group = 0; group < groups; ++group) {
      torch::cuda::synchronize();
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < kPerGroup; ++i) train(at++, batch);
      torch::cuda::synchronize();
      const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start;
      ms.push_back(passed.count() / kPerGroup);
    }
    std::sort(ms.begin(), ms.end());
    return {name, ms[ms.size() / 2], ms.back() / ms.front()};
  }

 private:
  int64_t begin_of(prune::Phase phase) const {
    for (const prune::PhaseSpan& span : pruner_->algorithm().schedule().phases()) {
      if (span.phase == phase) return span.begin;
    }
    throw Error(str("the schedule has no phase ", prune::name_of(phase)));
  }

  void train(int64_t at, const data::Batch& batch) {
    pruner_->algorithm().advance(at);
    step_->run(batch, 0.01);
  }

  at::Device device_;
  std::shared_ptr<nn::Model> model_;
  std::unique_ptr<Pruner> pruner_;
  std::unique_ptr<Optimiser> optimiser_;
  std::unique_ptr<train::Step> step_;
};

Json measure(int64_t batch_size, int groups, bool graphs) {
  const train::RecordableStream stream(tensor::find_device("cuda"));
  const auto on_gpu = at::TensorOptions(at::kCUDA);
  const data::Batch batch = {
      at::randn({batch_size, 3, 224, 224}, on_gpu).contiguous(at::MemoryFormat::ChannelsLast),
      at::randint(1000, {batch_size}, on_gpu.dtype(at::kLong))};
  run::Options options;
  options.model = "resnet50";
  options.prune.sparsity = 0.9;
  std::vector<Row> rows;
  const auto dense = [&](const char* name) {
    options.prune.method = "dense";
    options.prune.score.reset();
    rows.push_back(Trainer(options, graphs).time(name, prune::Phase::kDense, batch, groups));
  };
  dense("dense");
  for (const char* score : {"attention", "gated-norm"}) {
    options.prune.method = "sa++";
    options.prune.score = score;
    Trainer pruned(options, graphs);
    const std::string prefix = str("sa++, ", score, ", ");
    rows.push_back(pruned.time(prefix + "DENSE", prune::Phase::kDense, batch, groups));
    rows.push_back(pruned.time(prefix + "SPARSIFICATION", prune::Phase::kSparsification, batch, groups));
    rows.push_back(pruned.time(prefix + "SPARSE", prune::Phase::kSparse, batch, groups));
  }
  dense("dense again");
  const double base = (rows.front().ms + rows.back().ms) / 2;
  Json out = Json::array();
  for (const Row& row : rows) {
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
