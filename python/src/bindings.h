#pragma once

#include <pybind11/pybind11.h>

namespace hewn::python {

// Each adds its part to the module hewn._C.
void bind_pruner(pybind11::module_& module);
void bind_optimiser(pybind11::module_& module);
void bind_layers(pybind11::module_& module);
void bind_files(pybind11::module_& module);
void bind_runtime(pybind11::module_& module);
void bind_networks(pybind11::module_& module);
void bind_convex(pybind11::module_& module);

}  // namespace hewn::python
