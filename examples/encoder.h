// A transformer encoder, and something for it to learn: the class of a sequence is what a random network says
// of the sum of its words' vectors, each multiplied by the vector of its place.
#pragma once

#include <ATen/ATen.h>
#include <hewn/hewn.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/normalization.h>

#include <cmath>

constexpr int64_t kLength = 16, kWords = 24, kClasses = 8, kWidth = 128, kHeads = 4;

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
  torch::nn::Linear head{kWidth, kClasses};

  Encoder() {
    register_module("words", words), register_module("places", places), register_module("head", head);
  }
  at::Tensor forward(const at::Tensor& x) {
    return head(second->forward(first->forward(words(x) + places->weight)).select(1, 0));
  }
};

inline std::pair<at::Tensor, at::Tensor> sequences(int64_t count) {
  static const at::Tensor words = at::randn({kWords, 8}), places = at::randn({kLength, 8});
  static const at::Tensor hidden = at::randn({8, 16}), out = at::randn({16, kClasses});
  const at::Tensor x = at::randint(kWords, {count, kLength}, at::kLong);
  const at::Tensor sum = (words.index({x}) * places).sum(1);
  return {x, at::matmul(at::tanh(at::matmul(sum, hidden) * 0.075), out).argmax(1)};
}

/// Share of right answers on fresh sequences, in percent.
inline double accuracy(Encoder& net) {
  const at::NoGradGuard no_grad;
  const auto [x, y] = sequences(8192);
  return 100 * (net.forward(x).argmax(1) == y).to(at::kDouble).mean().item<double>();
}
