#include "bench/gpu_step/trainer.h"

#include <torch/cuda.h>

#include <algorithm>
#include <chrono>

#include "hewn/core/error.h"
#include "hewn/dist/communicator.h"
#include "hewn/run/recipe.h"
#include "hewn/tensor/device.h"
#include "hewn/train/network.h"

namespace hewn::bench {
namespace {

constexpr int64_t kSteps = 3000;
constexpr int kPerGroup = 10;

}  // namespace

Trainer::Trainer(const run::Options& options, const nn::Signature& signature, bool graphs)
    : model_(train::build_model(options, signature)) {
  train::move_to(*model_, tensor::find_device("cuda"), /*cudnn_benchmark=*/true);
  pruner_ = std::make_unique<Pruner>(*model_, run::pruner_options(options, kSteps));
  optimiser_ = std::make_unique<Optimiser>(*pruner_, run::optimiser_options(options));
  step_ = std::make_unique<train::Step>(
      train::StepParts{*model_, *pruner_, *optimiser_, dist::alone()},
      train::StepOptions{train::make_task(data::Kind::kImages, 0), 1, train::Precision::kBf16, graphs});
  model_->train();
}

StepRow Trainer::time(const std::string& name, prune::Phase phase, const data::Batch& batch, int groups,
                      Part part) {
  const prune::PhaseSpan span = find(phase);
  int64_t at = span.begin;
  if (part == Part::kEnd) at = std::max(span.begin, span.end - int64_t{kPerGroup} * (groups + 1));
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
  const auto& layers = pruner_->algorithm().layers();
  return {
      name, ms[ms.size() / 2], ms.back() / ms.front(),
      std::count_if(layers.begin(), layers.end(), [](const auto& layer) { return layer.kept != nullptr; })};
}

prune::PhaseSpan Trainer::find(prune::Phase phase) const {
  for (const prune::PhaseSpan& span : pruner_->algorithm().schedule().phases()) {
    if (span.phase == phase) return span;
  }
  throw Error(str("the schedule has no phase ", prune::name_of(phase)));
}

void Trainer::train(int64_t at, const data::Batch& batch) {
  pruner_->algorithm().advance(at);
  step_->run(batch, 0.01);
}

}  // namespace hewn::bench
