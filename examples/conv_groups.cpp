// A network of one's own with a grouped convolution: blocks never reach over the border of a group.
#include <ATen/ATen.h>
#include <hewn/hewn.h>

#include <cstdio>

struct Net : torch::nn::Module {
  hewn::nn::Conv2d stem{torch::nn::Conv2dOptions(3, 64, 3).padding(1).stride(2)};
  hewn::nn::Conv2d grouped{torch::nn::Conv2dOptions(64, 64, 3).padding(1).groups(4)};
  hewn::nn::Conv2d mix{torch::nn::Conv2dOptions(64, 128, 1)};
  torch::nn::Linear head{128, 4};

  Net() {
    register_module("stem", stem), register_module("grouped", grouped);
    register_module("mix", mix), register_module("head", head);
  }
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor y = grouped(stem(x).relu()).relu();
    return head(mix(y).relu().mean({2, 3}));
  }
};

/// Stripes of four widths, with noise.
std::pair<at::Tensor, at::Tensor> stripes(int64_t count) {
  const at::Tensor y = at::randint(4, {count}, at::kLong);
  const at::Tensor place = at::arange(16).view({1, 1, 1, 16}) * (y + 1).view({-1, 1, 1, 1});
  return {(place * 0.4).sin().expand({count, 3, 16, 16}) + at::randn({count, 3, 16, 16}), y};
}

int main() {
  at::manual_seed(0);
  constexpr int64_t kSteps = 150;
  Net net;
  hewn::Pruner pruner(net, {.block = {8, 8}, .sparsity = 0.75, .steps = kSteps, .except = {"stem"}});
  hewn::Optimiser optimiser(pruner, {.lr = 0.05, .weight_decay = 1e-4});
  for (int64_t i = 0; i < kSteps; ++i) {
    const auto [x, y] = stripes(64);
    pruner.step();
    optimiser.zero_grad();
    at::cross_entropy_loss(net.forward(x), y).backward();
    optimiser.step();
  }
  for (const auto& [name, layer] : pruner.finish()) {
    std::printf("%s: %ld of %ld blocks kept, %ld groups\n", name.c_str(), long(layer.kept()),
                long(layer.grid().blocks()), long(layer.grid().groups));
  }
  const auto [x, y] = stripes(2048);
  const double right = (net.forward(x).argmax(1) == y).to(at::kDouble).mean().item<double>();
  std::printf("accuracy %.1f %%\n", 100 * right);
  return right > 0.9 ? 0 : 1;
}
