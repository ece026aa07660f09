#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include "arguments.h"
#include "bindings.h"
#include "hewn/core/error.h"
#include "hewn/kernels/bsr.h"
#include "hewn/prune/execution.h"
#include "hewn/prune/gate.h"

namespace py = pybind11;

namespace hewn::python {
namespace {

kernels::BsrPattern pattern_of(const PlainGrid& grid, const std::vector<int64_t>& kept) {
  const LayerBlocks blocks(grid_from(grid), kept);
  return kernels::make_pattern(blocks.grid(), blocks.flags().data());
}

/// The kept blocks of a weight, [kept][block.cols][block.rows] by output block and then input block.
at::Tensor gather(const at::Tensor& weight, const PlainGrid& grid, const std::vector<int64_t>& kept) {
  const kernels::BsrPattern pattern = pattern_of(grid, kept);
  const at::Tensor values = weight.detach().to(at::kCPU).to(at::kFloat).contiguous();
  const at::Tensor out = at::empty({pattern.kept(), grid[3], grid[2]});
  kernels::gather_blocks(pattern, prune::layout_on(values, pattern.grid), values.data_ptr<float>(), nullptr,
                         out.data_ptr<float>(), 0, pattern.grid.col_blocks());
  return out;
}

at::Tensor scatter(const at::Tensor& values, const PlainGrid& grid, const std::vector<int64_t>& kept,
                   const std::vector<int64_t>& shape) {
  const kernels::BsrPattern pattern = pattern_of(grid, kept);
  const at::Tensor from = values.detach().to(at::kCPU).to(at::kFloat).contiguous();
  if (from.numel() != pattern.value_floats()) {
    throw Error(hewn::str("values: expected ", pattern.value_floats(), " numbers, got ", from.numel()));
  }
  const at::Tensor out = at::zeros(shape);
  kernels::scatter_blocks(pattern, prune::layout_on(out, pattern.grid), from.data_ptr<float>(),
                          out.data_ptr<float>(), 0, pattern.grid.col_blocks());
  return out;
}

/// Where each output block's kept blocks begin, and their input blocks: torch's crow and col indices.
py::tuple compressed(const PlainGrid& grid, const std::vector<int64_t>& kept) {
  const kernels::BsrPattern pattern = pattern_of(grid, kept);
  return py::make_tuple(pattern.begin, pattern.row);
}

}  // namespace

void bind_layers(py::module_& m) {
  m.def("gather", &gather);
  m.def("scatter", &scatter);
  m.def("compressed", &compressed);
  m.def("usual_limit", [](const PlainGrid& grid) { return prune::usual_limit(grid_from(grid)); });
}

}  // namespace hewn::python
