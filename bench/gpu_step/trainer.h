#pragma once

#include <memory>
#include <string>

#include "hewn/optimiser.h"
#include "hewn/run/options.h"
#include "hewn/train/step/step.h"

namespace hewn::bench {

struct StepRow {
  std::string name;
  double ms = 0;
  double spread = 0;    // largest group over smallest
  int64_t on_kept = 0;  // layers on kept blocks at the end
};

/// A network in training on a GPU, in bf16, with its pruner at any step.
class Trainer {
 public:
  Trainer(const run::Options& options, const nn::Signature& signature, bool graphs);

  /// Steps from the beginning of the first phase of that name, or its last steps, after some that are not
  /// timed.
  enum class Part { kBegin, kEnd };
  StepRow time(const std::string& name, prune::Phase phase, const data::Batch& batch, int groups,
               Part part = Part::kBegin);

 private:
  prune::PhaseSpan find(prune::Phase phase) const;
  void train(int64_t at, const data::Batch& batch);

  std::shared_ptr<nn::Model> model_;
  std::unique_ptr<Pruner> pruner_;
  std::unique_ptr<Optimiser> optimiser_;
  std::unique_ptr<train::Step> step_;
};

}  // namespace hewn::bench
