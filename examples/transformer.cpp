// A transformer encoder of one's own loses 80 % of its 16x16 blocks while it trains.
// usage: transformer [seed] [steps] [method] [factor of the logits' learning rate] [sparse execution]
#include <cstdio>

#include "encoder.h"

int main(int argc, char** argv) {
  const int64_t steps = argc > 2 ? std::atoll(argv[2]) : 1000;
  at::manual_seed(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0);
  Encoder net;
  hewn::PrunerOptions options{.sparsity = 0.8, .steps = steps, .min_blocks = 32};
  options.method = argc > 3 ? argv[3] : "sa++r";
  if (argc > 4) options.logit_lr = std::atof(argv[4]);
  if (argc > 5) options.sparse_execution = argv[5];
  hewn::Pruner pruner(net, options);
  hewn::Optimiser optimiser(pruner, {.kind = "adamw", .weight_decay = 0.01});

  for (int64_t i = 0; i < steps; ++i) {
    const auto [x, y] = sequences(64);
    pruner.step();
    optimiser.zero_grad();
    at::cross_entropy_loss(net.forward(x), y).backward();
    optimiser.step(2e-3 * (1 - static_cast<double>(i) / static_cast<double>(steps)));
  }
  const hewn::Blocks blocks = pruner.finish();
  int64_t kept = 0, all = 0;
  for (const auto& [name, layer] : blocks) kept += layer.kept(), all += layer.grid().blocks();
  std::printf("%ld of %ld blocks kept, accuracy %.2f %%\n", long(kept), long(all), accuracy(net));
  hewn::save(net, blocks, "encoder.safetensors");
}
