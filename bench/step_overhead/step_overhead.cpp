// What does pruning cost per training step? The default mlp: a plain LibTorch step with LibTorch's own SGD,
// the same step with hewn's fused SGD, and steps of sa++r in each phase. Interleaved; medians of per-round
// ratios.
#include <ATen/ATen.h>
#include <malloc.h>
#include <torch/optim/sgd.h>

#include <cstdio>
#include <memory>

#include "hewn/core/json.h"
#include "hewn/measure/interleave.h"
#include "hewn/nn/model.h"
#include "hewn/optimiser.h"
#include "hewn/pruner.h"
#include "hewn/run/options.h"
#include "hewn/run/recipe.h"
#include "hewn/tensor/device.h"
#include "hewn/train/network.h"
#include "hewn/train/tasks/task.h"

namespace hewn::bench {
namespace {

constexpr double kRate = 0.01;

struct Batch {
  at::Tensor input;
  at::Tensor target;
};

/// A model with a loss and whatever a step does besides.
struct Trainer {
  std::shared_ptr<nn::Model> model;
  std::unique_ptr<Pruner> pruner;
  std::unique_ptr<Optimiser> optimiser;
  std::unique_ptr<torch::optim::SGD> libtorch;
  int64_t step = 0;

  void train(const Batch& batch) {
    if (pruner) {
      pruner->algorithm().advance(step);
      pruner->show();
    }
    const at::Tensor loss =
        train::make_task(data::Kind::kImages, 0)->loss(model->forward(batch.input), batch.target);
    if (libtorch) {
      libtorch->zero_grad();
      loss.backward();
      libtorch->step();
    } else {
      optimiser->zero_grad();
      loss.backward();
      optimiser->step(kRate);
    }
  }
};

Trainer plain(bool libtorch) {
  const run::Options options;
  Trainer out;
  out.model = train::build_model(options, {{1, 28, 28}, 10});
  if (libtorch) {
    out.libtorch = std::make_unique<torch::optim::SGD>(
        out.model->parameters(),
        torch::optim::SGDOptions(kRate).momentum(0.9).nesterov(true).weight_decay(5e-4));
    return out;
  }
  std::vector<Parameter> parameters;
  for (const auto& item : out.model->named_parameters())
    parameters.push_back({item.key(), item.value(), 1, 5e-4});
  out.optimiser = std::make_unique<Optimiser>(parameters, OptimiserOptions{});
  return out;
}

/// sa++r at a step of a run of 3000 steps: 0 lies in DENSE, 2250 in SPARSIFICATION, 2700 in SPARSE. With
/// `kept_blocks` the pruned layers run on their kept blocks only, as training chooses where that is faster.
Trainer pruned(int64_t step, bool kept_blocks) {
  const run::Options options;
  Trainer out;
  out.model = train::build_model(options, {{1, 28, 28}, 10});
  PrunerOptions how = run::pruner_options(options, 3000);
  how.sparse_execution = kept_blocks ? "on" : "off";
  out.pruner = std::make_unique<Pruner>(*out.model, how);
  out.optimiser = std::make_unique<Optimiser>(*out.pruner, run::optimiser_options(options));
  out.step = step;
  return out;
}

Json step_times(int64_t batch_size, int64_t threads) {
  const int64_t used = tensor::set_threads(threads);
  const Batch batch = {at::randn({batch_size, 1, 28, 28}), at::randint(10, {batch_size}, at::kLong)};
  Trainer libtorch = plain(true);
  Trainer fused = plain(false);
  Trainer dense = pruned(0, false);
  Trainer ramp = pruned(2250, false);
  Trainer sparse = pruned(2700, false);
  Trainer ramp_on_blocks = pruned(2250, true);
  Trainer sparse_on_blocks = pruned(2700, true);
  const std::vector<measure::Contender> contenders = {
      {"LibTorch, its own SGD", [&] { libtorch.train(batch); }},
      {"hewn, method dense", [&] { fused.train(batch); }},
      {"hewn, sa++r in DENSE", [&] { dense.train(batch); }},
      {"hewn, sa++r in SPARSIFICATION", [&] { ramp.train(batch); }},
      {"hewn, sa++r in SPARSE", [&] { sparse.train(batch); }},
      {"... in SPARSIFICATION, kept blocks", [&] { ramp_on_blocks.train(batch); }},
      {"... in SPARSE, kept blocks", [&] { sparse_on_blocks.train(batch); }}};
  const measure::Clock clock = measure::clock_for(used);
  const auto timings = measure::interleave(contenders, {60, clock, 0});
  std::printf("\nbatch %ld, %ld thread%s (%s)\n", static_cast<long>(batch_size), static_cast<long>(used),
              used == 1 ? "" : "s", measure::to_string(clock).c_str());
  Json rows = Json::array();
  for (const measure::Timing& t : timings) {
    const measure::Spread ratio = measure::ratio(t, timings[0]);
    std::printf("  %-36s %8.2f ms   %5.3f x  [%5.3f, %5.3f]\n", t.name.c_str(), t.median_ms(), ratio.median,
                ratio.low, ratio.high);
    rows.push_back({{"name", t.name}, {"ms", t.median_ms()}, {"ratio", ratio.median}});
  }
  return {{"batch", batch_size}, {"threads", used}, {"rows", rows}};
}

}  // namespace
}  // namespace hewn::bench

int main() {
  // As the hewn program does: the same allocator for all contenders.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  hewn::Json all = hewn::Json::array();
  for (const int64_t threads : {1, 0}) {
    for (const int64_t batch : {256, 1024}) all.push_back(hewn::bench::step_times(batch, threads));
  }
  std::printf("\n%s\n", all.dump().c_str());
}
