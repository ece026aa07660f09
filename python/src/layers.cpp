#include <torch/csrc/utils/pybind.h>

#include "bindings.h"

namespace hewn::python {

void bind_layers(pybind11::module_&) {}

}  // namespace hewn::python
