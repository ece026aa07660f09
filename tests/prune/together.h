#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hewn/prune/gating/gate_group.h"
#include "hewn/prune/layer.h"

namespace hewn::prune {

/// Layers of awkward shapes, each with a score; every third has no support.
inline std::vector<Layer> some_layers(at::Device device, const std::string& score, size_t count) {
  const std::vector<std::vector<int64_t>> shapes = {{7, 5}, {1, 1}, {33, 17}, {7, 4, 3, 3}, {65, 32, 1, 1}};
  std::vector<Layer> layers(count);
  for (size_t i = 0; i < count; ++i) {
    at::Tensor leaf = at::randn(shapes[i % shapes.size()]);
    if (i % 2 == 1 && leaf.dim() == 4) leaf = leaf.contiguous(at::MemoryFormat::ChannelsLast);
    leaf = leaf.to(device).set_requires_grad(true);
    Layer& layer = layers[i];
    layer.name = std::to_string(i);
    layer.weight = {leaf, layout_of(leaf, {4, 3}), 1};
    layer.score = make_score(score, layer.weight, {});
    layer.slot = {layer.name, leaf, [](const at::Tensor&) {}};
    if (i % 3 != 0) layer.set_support((at::rand({layer.weight.blocks()}) > 0.4).to(at::kByte).to(device), {});
  }
  return layers;
}

/// What is trained in a layer.
inline std::vector<at::Tensor> trained(const Layer& layer) {
  std::vector<at::Tensor> out = {layer.weight.leaf};
  for (const ScoreParameter& parameter : layer.score->parameters()) out.push_back(parameter.tensor);
  return out;
}

/// Layers whose weights are gated together give what each gives by itself: forward and backward, where passes
/// run through some of them only, and after weights, logits and supports have changed.
inline void expect_together_is_apart(at::Device device, const std::string& score, bool bf16) {
  constexpr size_t kLayers = 70;  // more than one launch takes
  at::manual_seed(15);
  std::vector<Layer> together = some_layers(device, score, kLayers);
  at::manual_seed(15);
  std::vector<Layer> apart = some_layers(device, score, kLayers);
  std::vector<const Layer*> members;
  for (const Layer& layer : together) members.push_back(&layer);
  const auto group = std::make_shared<GateGroup>(members);
  for (size_t i = 0; i < kLayers; ++i) {
    together[i].group = group;
    together[i].place = i;
  }
  for (size_t pass = 0; pass < 4; ++pass) {  // each begins elsewhere and leaves some out; gradients add up
    for (size_t i = pass; i < kLayers; i += 1 + pass) {
      const std::string where = score + ", pass " + std::to_string(pass) + ", layer " + std::to_string(i);
      const at::Tensor one = together[i].gated(bf16);
      const at::Tensor other = apart[i].gated(bf16);
      ASSERT_EQ(one.scalar_type(), other.scalar_type()) << where;
      ASSERT_TRUE(at::equal(one, other)) << where;
      const at::Tensor target = at::randn_like(one.detach());
      one.backward(target);
      other.backward(target);
      const std::vector<at::Tensor> mine = trained(together[i]);
      const std::vector<at::Tensor> its = trained(apart[i]);
      const at::NoGradGuard no_grad;
      for (size_t k = 0; k < mine.size(); ++k) {
        ASSERT_TRUE(at::equal(mine[k].grad(), its[k].grad())) << where << ", tensor " << k;
        mine[k].sub_(0.1 * mine[k].grad());
        its[k].sub_(0.1 * its[k].grad());
      }
      if (pass == 2 && i % 5 == 0) {
        const at::Tensor chosen =
            at::ones({apart[i].weight.blocks()}, apart[i].weight.leaf.options().dtype(at::kByte));
        together[i].set_support(chosen, {});
        apart[i].set_support(chosen, {});
      }
    }
  }
}

}  // namespace hewn::prune
