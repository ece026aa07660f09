// Prunes a network and writes it as a file that run_model.cpp runs without LibTorch.
// usage: prune_and_export model.hewn
#include <ATen/ATen.h>
#include <hewn/hewn.h>

#include <cstdio>

struct Net : torch::nn::Module {
  hewn::nn::Linear fc1{64, 256}, fc2{256, 256}, fc3{256, 8};
  Net() { register_module("fc1", fc1), register_module("fc2", fc2), register_module("fc3", fc3); }
  at::Tensor forward(const at::Tensor& x) { return fc3(fc2(fc1(x).relu()).relu()); }
};

/// The same as the runtime's graph; layers by the names of their parameters.
hewn::runtime::Graph graph() {
  hewn::runtime::Graph g;
  const auto hidden = g.relu(g.linear("fc1", g.input({64, 1, 1}), 256));
  g.linear("fc3", g.relu(g.linear("fc2", hidden, 256)), 8);
  return g;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  at::manual_seed(0);
  constexpr int64_t kSteps = 300;
  const at::Tensor centres = at::randn({8, 64});
  Net net;
  hewn::Pruner pruner(net, {.block = {8, 8}, .sparsity = 0.9, .steps = kSteps});
  hewn::Optimiser optimiser(pruner, {.lr = 0.05, .weight_decay = 1e-4});
  for (int64_t i = 0; i < kSteps; ++i) {
    const at::Tensor y = at::randint(8, {64}, at::kLong);
    pruner.step();
    optimiser.zero_grad();
    at::cross_entropy_loss(net.forward(centres.index({y}) + at::randn({64, 64})), y).backward();
    optimiser.step();
  }
  const hewn::Blocks blocks = pruner.finish();
  hewn::runtime::write_model(argv[1], hewn::export_model(net, graph(), blocks));

  const at::Tensor ones = at::ones({1, 64});
  const at::Tensor y = net.forward(ones).contiguous();
  for (int64_t i = 0; i < 8; ++i) std::printf("%.4f\n", y.data_ptr<float>()[i]);
}
