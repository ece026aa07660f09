// hewn._C: what the Python package is built on. The package gives it its form; nothing here is meant for
// users.
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include "bindings.h"
#include "hewn/core/error.h"
#include "hewn/core/random.h"
#include "hewn/core/version.h"
#include "hewn/kernels/tile.h"

namespace py = pybind11;

PYBIND11_MODULE(_C, m) {
  // Both are made in Python, where they have their docstrings; errors are translated latest first.
  const py::module_ errors = py::module_::import("hewn._errors");
  static py::object error;
  static py::object format_error;
  error = errors.attr("Error");
  format_error = errors.attr("FormatError");
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const hewn::FormatError& e) {
      PyErr_SetString(format_error.ptr(), e.what());
    } catch (const hewn::Error& e) {
      PyErr_SetString(error.ptr(), e.what());
    }
  });
  m.attr("version") = hewn::kVersion;
  m.def("instructions", [] { return std::string(hewn::kernels::machine().name); });
  // The order of samples in an epoch of `hewn train`.
  m.def("permutation", &hewn::permutation);
  hewn::python::bind_pruner(m);
  hewn::python::bind_optimiser(m);
  hewn::python::bind_layers(m);
  hewn::python::bind_files(m);
  hewn::python::bind_runtime(m);
  hewn::python::bind_networks(m);
  hewn::python::bind_convex(m);
}
