#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "hewn/nn/model.h"
#include "hewn/train/tasks/task.h"

namespace hewn::train {

/// A trained network whose answers another one learns: in evaluation mode, without gradients, on the device.
struct Teacher {
  std::string name;  // where its weights are from
  std::shared_ptr<nn::Model> model;
  double share = 0;        // of it in the loss
  double temperature = 1;  // at which answers are compared, where the task has one
  uint32_t crc = 0;        // of its weights: a run goes on with the same ones only

  at::Tensor answer(const at::Tensor& input) const;
  /// What is minimised instead of the task's own loss.
  at::Tensor loss(const Task& task, const at::Tensor& own, const at::Tensor& output,
                  const at::Tensor& answer) const;
};

}  // namespace hewn::train
