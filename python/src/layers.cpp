#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include <algorithm>
#include <optional>

#include "arguments.h"
#include "bindings.h"
#include "hewn/core/error.h"
#include "hewn/kernels/bsr.h"
#include "hewn/nn/kept/product.h"
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

/// A Linear layer on the kept blocks of its weight on a GPU, as long as that does not change.
nn::PreparedProduct device_product(const at::Tensor& weight, const PlainGrid& grid,
                                   const std::vector<int64_t>& kept) {
  const LayerBlocks blocks(grid_from(grid), kept);
  const auto flags = blocks.flags();
  const at::Tensor support = at::empty({static_cast<int64_t>(flags.size())}, at::kByte);
  std::copy(flags.begin(), flags.end(), support.data_ptr<uint8_t>());
  return {weight, {blocks.grid(), support.to(weight.device()), blocks.density()}};
}

}  // namespace

void bind_layers(py::module_& m) {
  m.def("gather", &gather);
  m.def("scatter", &scatter);
  m.def("compressed", &compressed);
  m.def("device_limit",
        [](const PlainGrid& grid) { return prune::usual_inference_limit_on_device(grid_from(grid)); });
  m.def("device_architecture", &kernels::cuda::block_sparse::architecture);
  py::class_<nn::PreparedProduct>(m, "DeviceProduct")
      .def(py::init(&device_product))
      .def("run",
           [](const nn::PreparedProduct& product, const at::Tensor& x,
              const std::optional<at::Tensor>& bias) { return product(x, {bias.value_or(at::Tensor())}); });
  m.def("usual_limit", [](const PlainGrid& grid) { return prune::usual_limit(grid_from(grid)); });
}

}  // namespace hewn::python
