// How long is a training step on kept blocks, beside the dense one? bf16, data on the GPU, steps recorded:
// the phases of sa++r at 90 % with sparse execution by rule, everywhere and nowhere. One network at a time;
// the dense step is timed first and last, so that a drift shows.
//
// usage: bench_gpu_kept_step NETWORK BLOCK [GROUPS]: NETWORK is mlp, resnet50 or vit; GROUPS (default 5)
// groups of 10 steps are timed per row
#include <ATen/ATen.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "bench/gpu_step/trainer.h"
#include "hewn/core/error.h"
#include "hewn/core/json.h"
#include "hewn/core/table.h"
#include "hewn/tensor/device.h"

namespace hewn::bench {
namespace {

struct Subject {
  std::string name;
  const char* model;
  int64_t batch;
  nn::Signature signature;
  int64_t min_blocks;
};

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> kRows = {{"mlp", "mlp", 8192, {{4096}, 10}, 100},
                                             {"resnet50", "resnet50", 256, {{3, 224, 224}, 1000}, 4},
                                             {"vit", "vit-s/16", 256, {{3, 224, 224}, 1000}, 16}};
  return kRows;
}

data::Batch batch_of(const Subject& subject) {
  std::vector<int64_t> sizes = {subject.batch};
  sizes.insert(sizes.end(), subject.signature.input.begin(), subject.signature.input.end());
  const auto on_gpu = at::TensorOptions(at::kCUDA);
  at::Tensor input = at::randn(sizes, on_gpu);
  if (input.dim() == 4) input = input.contiguous(at::MemoryFormat::ChannelsLast);
  return {input, at::randint(subject.signature.outputs, {subject.batch}, on_gpu.dtype(at::kLong))};
}

run::Options options_of(const Subject& subject, const std::string& block) {
  run::Options options;
  options.model = subject.model;
  options.widths = std::vector<int64_t>(6, 4096);
  options.prune.method = "sa++r";
  options.prune.sparsity = 0.9;
  options.prune.block = parse_block(block);
  options.prune.min_blocks = subject.min_blocks;
  return options;
}

std::vector<StepRow> measure(const Subject& subject, const std::string& block, int groups) {
  using Part = Trainer::Part;
  const train::RecordableStream stream(tensor::find_device("cuda"));
  const data::Batch batch = batch_of(subject);
  run::Options options = options_of(subject, block);
  std::vector<StepRow> rows;
  const auto dense = [&](const char* name) {
    run::Options plain = options;
    plain.prune.method = "dense";
    rows.push_back(Trainer(plain, subject.signature, true).time(name, prune::Phase::kDense, batch, groups));
  };
  dense("dense");
  for (const char* execution : {"off", "auto", "on"}) {
    options.prune.sparse_execution.reset();
    if (std::string(execution) != "auto") options.prune.sparse_execution = execution;
    Trainer pruned(options, subject.signature, true);
    const auto time = [&](const char* what, prune::Phase phase, Part part) {
      rows.push_back(pruned.time(str(execution, ", ", what), phase, batch, groups, part));
    };
    time("DENSE", prune::Phase::kDense, Part::kBegin);
    time("SPARSIFICATION, first steps", prune::Phase::kSparsification, Part::kBegin);
    time("SPARSIFICATION, last steps", prune::Phase::kSparsification, Part::kEnd);
    time("SPARSE", prune::Phase::kSparse, Part::kBegin);
  }
  dense("dense again");
  return rows;
}

int run(int count, char** arguments) {
  if (count < 3) throw Error("usage: bench_gpu_kept_step NETWORK BLOCK [GROUPS]");
  const Subject& subject = find_row(subjects(), arguments[1], "network");
  const std::vector<StepRow> rows = measure(subject, arguments[2], count > 3 ? std::atoi(arguments[3]) : 5);
  const double base = (rows.front().ms + rows.back().ms) / 2;
  Json out = Json::array();
  for (const StepRow& row : rows) {
    std::printf(
        "  %-9s B=%-4s %-34s %8.3f ms  %6.3f x  %3ld layers on kept blocks  (groups differ by %.1f %%)\n",
        subject.name.c_str(), arguments[2], row.name.c_str(), row.ms, row.ms / base,
        static_cast<long>(row.on_kept), 100 * (row.spread - 1));
    out.push_back({{"name", row.name},
                   {"ms", row.ms},
                   {"ratio", row.ms / base},
                   {"layers_on_kept_blocks", row.on_kept},
                   {"spread", row.spread}});
  }
  const Json all = {
      {"network", subject.name}, {"batch", subject.batch}, {"block", arguments[2]}, {"rows", out}};
  std::printf("%s\n", all.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace hewn::bench

int main(int count, char** arguments) try {
  return hewn::bench::run(count, arguments);
} catch (const std::exception& problem) {
  std::fprintf(stderr, "bench_gpu_kept_step: %s\n", problem.what());
  return 1;
}
