// The same with an optimiser of torch::optim and a schedule of one's own.
// usage: torch_optim [seed] [steps]
#include <torch/optim/adamw.h>

#include <cstdio>

#include "encoder.h"

int main(int argc, char** argv) {
  const int64_t steps = argc > 2 ? std::atoll(argv[2]) : 1000;
  at::manual_seed(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0);
  Encoder net;
  hewn::Pruner pruner(net, {.method = "sa++r", .sparsity = 0.8, .steps = steps, .min_blocks = 32});
  torch::optim::AdamW optimiser(
      hewn::param_groups(pruner, torch::optim::AdamWOptions(2e-3).weight_decay(0.01)));

  for (int64_t i = 0; i < steps; ++i) {
    const auto [x, y] = sequences(64);
    pruner.step(optimiser);  // forgets the optimiser's state where the method wants that
    optimiser.zero_grad();
    at::cross_entropy_loss(net.forward(x), y).backward();
    pruner.after_backward();
    optimiser.step();
    const double left = static_cast<double>(steps - i - 1) / static_cast<double>(steps - i);
    for (auto& group : optimiser.param_groups()) group.options().set_lr(group.options().get_lr() * left);
  }
  hewn::save(net, pruner.finish(), "encoder.safetensors");
  std::printf("accuracy %.2f %%\n", accuracy(net));
}
