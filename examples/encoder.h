// A transformer encoder, and something for it to learn: the first word of a sequence says at which place the
// answer stands. One answer in six is noise.
#pragma once

#include <ATen/ATen.h>
#include <hewn/hewn.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/normalization.h>

#include <cmath>

constexpr int64_t kLength = 24, kWords = 24, kWidth = 128, kHeads = 4;

struct Layer : torch::nn::Module {
  hewn::nn::Linear qkv{kWidth, 3 * kWidth}, out{kWidth, kWidth}, up{kWidth, 512}, down{512, kWidth};
  torch::nn::LayerNorm a{torch::nn::LayerNormOptions({kWidth})}, b{torch::nn::LayerNormOptions({kWidth})};

  Layer() {
    register_module("qkv", qkv), register_module("out", out), register_module("up", up);
    register_module("down", down), register_module("a", a), register_module("b", b);
  }
  at::Tensor forward(const at::Tensor& x) {
    const auto p = qkv(a(x)).view({-1, kLength, 3, kHeads, kWidth / kHeads}).permute({2, 0, 3, 1, 4});
    const at::Tensor scores = at::matmul(p[0], p[1].transpose(2, 3)) / std::sqrt(kWidth / kHeads);
    const at::Tensor seen = at::matmul(at::softmax(scores, -1), p[2]).transpose(1, 2);
    const at::Tensor y = x + out(seen.reshape(x.sizes()));
    return y + down(at::gelu(up(b(y))));
  }
};

struct Encoder : torch::nn::Module {
  torch::nn::Embedding words{kWords, kWidth}, places{kLength, kWidth};
  std::shared_ptr<Layer> first = register_module("first", std::make_shared<Layer>());
  std::shared_ptr<Layer> second = register_module("second", std::make_shared<Layer>());
  torch::nn::Linear head{kWidth, kWords};

  Encoder() {
    register_module("words", words), register_module("places", places), register_module("head", head);
  }
  at::Tensor forward(const at::Tensor& x) {
    return head(second->forward(first->forward(words(x) + places->weight)).select(1, 0));
  }
};

inline std::pair<at::Tensor, at::Tensor> lookups(int64_t count) {
  const at::Tensor x = at::randint(kWords, {count, kLength}, at::kLong);
  x.select(1, 0).copy_(at::randint(1, kLength, {count}, at::kLong));
  const at::Tensor y = x.gather(1, x.narrow(1, 0, 1)).squeeze(1);
  return {x, at::where(at::rand({count}) < 1.0 / 6, at::randint_like(y, kWords), y)};
}

/// Share of right answers on fresh sequences, in percent.
inline double accuracy(Encoder& net) {
  const at::NoGradGuard no_grad;
  const auto [x, y] = lookups(8192);
  return 100 * (net.forward(x).argmax(1) == y).to(at::kDouble).mean().item<double>();
}
