#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <string>
#include <vector>

#include "hewn/core/blocks.h"
#include "hewn/nn/model.h"
#include "hewn/train/step/precision.h"

namespace hewn::deploy {

/// A trained network on the device that evaluates it.
struct OnDevice {
  std::shared_ptr<nn::Model> model;         // gives single precision
  std::vector<std::string> on_kept_blocks;  // layers that run on their kept blocks alone
};

/// Moves a trained network there. On a GPU in bf16, and in fp32 where LibTorch may use TF32, pruned layers
/// run on kept blocks where that is faster by rule.
OnDevice move_trained(const std::shared_ptr<nn::Model>& model, const std::vector<int64_t>& input,
                      const Blocks& blocks, c10::Device device, train::Precision precision);

}  // namespace hewn::deploy
