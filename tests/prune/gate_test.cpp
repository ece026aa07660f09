#include "hewn/prune/gate.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/prune/together.h"

namespace hewn::prune {
namespace {

/// A weight of 256 KiB, its gate and its active blocks, which no step changes.
struct Parts {
  at::Tensor weight = at::randn({256, 256}).set_requires_grad(true);
  WeightLayout layout = layout_of(weight, {16, 16});
  at::Tensor gate = at::rand({256}).set_requires_grad(true);
  at::Tensor active = (at::rand({256}) > 0.5).to(at::kByte);
};

TEST(Gate, MemoryIsUsedAgainOnlyWhenNobodyHoldsIt) {
  at::manual_seed(1);
  const Parts p;
  const auto memory = c10::make_intrusive<GateMemory>();
  const auto scale = [&](const at::Tensor& gate) {
    return block_scale(p.weight, gate, p.active, p.layout, /*bf16=*/false, memory);
  };
  at::Tensor first = scale(p.gate);
  const at::Tensor before = first.detach().clone();
  const at::Tensor second = scale(2 * p.gate);  // the first is still held
  EXPECT_TRUE(at::equal(first, before));
  EXPECT_NE(first.data_ptr(), second.data_ptr());
  const void* place = second.data_ptr();
  at::Tensor view = second.detach().narrow(0, 0, 1);  // a view of it holds it as well
  first = at::Tensor();
  EXPECT_NE(scale(p.gate).data_ptr(), place);
  const void* last = scale(p.gate).data_ptr();
  EXPECT_EQ(scale(p.gate).data_ptr(), last);
}

TEST(Gate, GradientsAreTheSameWithMemory) {
  at::manual_seed(2);
  Parts p;
  const auto memory = c10::make_intrusive<GateMemory>();
  std::vector<at::Tensor> held;  // gradients of earlier steps, as a user may keep them
  std::vector<at::Tensor> expected;
  for (int step = 0; step < 4; ++step) {
    const at::Tensor target = at::randn({256, 256});
    std::vector<at::Tensor> grads;
    for (const auto& with : {c10::intrusive_ptr<GateMemory>(), memory}) {
      p.weight.mutable_grad() = at::Tensor();
      p.gate.mutable_grad() = at::Tensor();
      const at::Tensor shown = block_scale(p.weight, p.gate, p.active, p.layout, /*bf16=*/false, with);
      shown.backward(target, /*retain_graph=*/true);
      shown.backward(target);  // adds up
      grads.push_back(p.weight.grad());
      grads.push_back(p.gate.grad());
    }
    EXPECT_TRUE(at::equal(grads[0], grads[2]));
    EXPECT_TRUE(at::equal(grads[1], grads[3]));
    held.push_back(grads[2]);
    expected.push_back(grads[0].clone());
  }
  for (size_t i = 0; i < held.size(); ++i) EXPECT_TRUE(at::equal(held[i], expected[i])) << i;
}

TEST(Gate, LayersGatedTogetherGiveWhatEachGives) {
  for (const char* score : {"identity-mask", "magnitude"}) {
    expect_together_is_apart(at::kCPU, score, /*bf16=*/false);
  }
}

/// Several layers in one forward pass, and a backward pass through all of them.
TEST(Gate, OnePassThroughAGroup) {
  at::manual_seed(3);
  std::vector<Layer> layers = some_layers(at::kCPU, "identity-mask", 9);
  std::vector<std::vector<at::Tensor>> gradients(2);
  for (const bool grouped : {false, true}) {
    std::vector<const Layer*> members;
    for (const Layer& layer : layers) members.push_back(&layer);
    const auto group = std::make_shared<GateGroup>(members);
    at::Tensor loss = at::zeros({});
    for (size_t i = 0; i < layers.size(); ++i) {
      layers[i].group = grouped ? group : nullptr;
      layers[i].place = i;
      loss = loss + layers[i].gated(false).square().sum();
    }
    const at::Tensor unused = grouped ? layers[0].gated(false) : at::Tensor();  // of a group of its own
    loss.backward();
    for (const Layer& layer : layers) {
      for (at::Tensor& tensor : trained(layer)) {
        gradients[grouped ? 1 : 0].push_back(tensor.grad());
        tensor.mutable_grad() = at::Tensor();
      }
    }
  }
  for (size_t i = 0; i < gradients[0].size(); ++i) {
    EXPECT_TRUE(at::equal(gradients[0][i], gradients[1][i])) << i;
  }
}

TEST(Gate, AWeightThatChangedBeforeItsBackwardPassIsNoticed) {
  std::vector<Layer> layers = some_layers(at::kCPU, "identity-mask", 2);
  const auto group = std::make_shared<GateGroup>(std::vector<const Layer*>{&layers[0], &layers[1]});
  for (size_t i = 0; i < 2; ++i) {
    layers[i].group = group;
    layers[i].place = i;
  }
  const at::Tensor first = layers[0].gated(false).sum();
  const at::Tensor second = layers[1].gated(false).sum();
  {
    const at::NoGradGuard no_grad;
    layers[0].weight.leaf.add_(1);
  }
  second.backward();
  EXPECT_THROW(first.backward(), c10::Error);
}

}  // namespace
}  // namespace hewn::prune
