#include "hewn/optimiser.h"

#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include "bindings.h"
#include "hewn/tensor/clip.h"
#include "slots.h"

namespace py = pybind11;

namespace hewn::python {
namespace {

/// The optimiser and the pruner that it follows.
struct OwnedOptimiser {
  std::shared_ptr<PrunerOfSlots> pruner;
  Optimiser optimiser;
};

OptimiserOptions options_from(const py::dict& given) {
  OptimiserOptions o;
  o.kind = given["kind"].cast<std::string>();
  o.lr = given["lr"].cast<double>();
  o.weight_decay = given["weight_decay"].cast<double>();
  o.decay_all = given["decay_all"].cast<bool>();
  o.momentum = given["momentum"].cast<double>();
  o.nesterov = given["nesterov"].cast<bool>();
  o.beta1 = given["beta1"].cast<double>();
  o.beta2 = given["beta2"].cast<double>();
  o.epsilon = given["eps"].cast<double>();
  o.clip_norm = given["clip_norm"].cast<std::optional<double>>();
  return o;
}

std::shared_ptr<OwnedOptimiser> make(const std::shared_ptr<PrunerOfSlots>& pruner, const py::dict& options) {
  return std::make_shared<OwnedOptimiser>(
      OwnedOptimiser{pruner, Optimiser(*pruner->pruner, options_from(options))});
}

std::vector<at::Tensor> tensors_of(const OwnedOptimiser& o) {
  std::vector<at::Tensor> out;
  for (const Parameter& parameter : o.optimiser.parameters()) out.push_back(parameter.tensor);
  return out;
}

void clip_gradients(const std::vector<at::Tensor>& tensors, double limit) {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& tensor : tensors) {
    if (tensor.grad().defined()) gradients.push_back(tensor::values_of(tensor.grad()));
  }
  tensor::clip(gradients, limit);
}

}  // namespace

void bind_optimiser(py::module_& m) {
  using Release = py::call_guard<py::gil_scoped_release>;
  m.def("clip_gradients", &clip_gradients, Release());
  py::class_<OwnedOptimiser, std::shared_ptr<OwnedOptimiser>>(m, "Optimiser")
      .def(py::init(&make))
      .def(
          "step", [](OwnedOptimiser& o, double lr) { o.optimiser.step(lr); }, Release())
      .def("zero_grad", [](OwnedOptimiser& o) { o.optimiser.zero_grad(); })
      .def("tensors", &tensors_of)
      .def("reset", [](OwnedOptimiser& o) { o.optimiser.reset(); })
      .def("state", [](const OwnedOptimiser& o) { return o.optimiser.state(); })
      .def_property(
          "steps", [](const OwnedOptimiser& o) { return o.optimiser.steps_since_reset(); },
          [](OwnedOptimiser& o, int64_t steps) { o.optimiser.set_steps_since_reset(steps); });
}

}  // namespace hewn::python
