// What the README's snippet is tried on: labels depend on the first 80 of 784 inputs alone, so that the
// blocks of fc1 that are worth keeping are known: those in its first five rows of blocks.
#pragma once

#include <ATen/ATen.h>
#include <hewn/hewn.h>

#include <iostream>
#include <utility>

inline std::pair<at::Tensor, at::Tensor> next_batch() {
  static const at::Tensor teacher = at::randn({80, 10});
  const at::Tensor x = at::randn({128, 784});
  return {x, at::matmul(x.narrow(1, 0, 80), teacher).argmax(1)};
}

template <class Net>
int check(Net& net) {
  const hewn::Blocks blocks = hewn::load(net, "net.safetensors");
  const hewn::LayerBlocks& fc1 = blocks.at("fc1");
  int64_t planted = 0;
  for (const int64_t block : fc1.indices()) planted += block / fc1.grid().col_blocks() < 5 ? 1 : 0;
  std::cout << planted << " of the " << fc1.kept() << " kept blocks were planted\n";
  return static_cast<double>(planted) >= 0.95 * static_cast<double>(fc1.kept()) ? 0 : 1;
}
