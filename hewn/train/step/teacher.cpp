#include "hewn/train/step/teacher.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

namespace hewn::train {

at::Tensor Teacher::answer(const at::Tensor& input) const {
  const at::NoGradGuard no_grad;
  return model->forward(input);
}

at::Tensor Teacher::loss(const Task& task, const at::Tensor& own, const at::Tensor& output,
                         const at::Tensor& answer) const {
  return (1 - share) * own + share * task.distil(output, answer, temperature);
}

}  // namespace hewn::train
