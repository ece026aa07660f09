#include "hewn/export.h"

#include <ATen/ops/empty.h>
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include "arguments.h"
#include "bindings.h"
#include "copies.h"
#include "hewn/core/error.h"
#include "hewn/runtime/model.h"

namespace py = pybind11;

namespace hewn::python {
namespace {

using SharedModel = Copies<runtime::Model>;

at::Tensor run(SharedModel& shared, const at::Tensor& given) {
  const runtime::Model& model = shared.model();
  const at::Tensor input = given.detach().to(at::kCPU).to(at::kFloat).contiguous();
  const int64_t batch = input.dim() == 0 ? 0 : input.size(0);
  if (input.dim() == 0 || input.numel() != batch * model.inputs()) {
    const auto [channels, height, width] = model.input_shape();
    throw Error(hewn::str("input: expected a batch of ", channels, "x", height, "x", width, " numbers, got ",
                          given.sizes()));
  }
  at::Tensor output = at::empty({batch, model.outputs()});
  shared.use(
      [&](runtime::Model& mine) { mine.run(input.data_ptr<float>(), batch, output.data_ptr<float>()); });
  return output;
}

runtime::ModelData exported(const runtime::Graph& graph, const std::map<std::string, at::Tensor>& tensors,
                            const PlainBlocks& blocks) {
  return export_model(graph, {tensors, blocks_from(blocks)});
}

kernels::ConvGeometry window_of(const std::array<int64_t, 5>& w) { return {w[0], w[1], w[2], w[3], w[4]}; }

void bind_graph(py::module_& m) {
  using runtime::Graph;
  py::class_<Graph>(m, "Graph")
      .def(py::init<>())
      .def("input",
           [](Graph& g, int64_t c, int64_t h, int64_t w) {
             return g.input({c, h, w});
           })
      .def("linear", &Graph::linear)
      .def("conv2d",
           [](Graph& g, const std::string& name, int32_t in, int64_t outputs,
              const std::array<int64_t, 5>& w) { return g.conv2d(name, in, outputs, window_of(w)); })
      .def("batch_norm", &Graph::batch_norm)
      .def("relu", &Graph::relu)
      .def("add", &Graph::add)
      .def("max_pool",
           [](Graph& g, int32_t in, const std::array<int64_t, 5>& w) { return g.max_pool(in, window_of(w)); })
      .def("global_avg_pool", &Graph::global_avg_pool)
      .def("flatten", &Graph::flatten);
}

}  // namespace

void bind_runtime(py::module_& m) {
  bind_graph(m);
  m.def("write_model",
        [](const std::string& path, const runtime::Graph& graph,
           const std::map<std::string, at::Tensor>& tensors, const PlainBlocks& blocks,
           const std::map<std::string, std::string>& about, const std::vector<std::string>& classes) {
          runtime::ModelData data = exported(graph, tensors, blocks);
          data.metadata = about;
          data.classes = classes;
          runtime::write_model(path, data);
        });
  using Release = py::call_guard<py::gil_scoped_release>;
  py::class_<SharedModel, std::shared_ptr<SharedModel>>(m, "Model")
      .def(py::init([](const std::string& path) {
             return std::make_shared<SharedModel>(runtime::Model::load(path));
           }),
           Release())
      .def(py::init([](const runtime::Graph& graph, const std::map<std::string, at::Tensor>& tensors,
                       const PlainBlocks& blocks) {
             return std::make_shared<SharedModel>(runtime::Model(exported(graph, tensors, blocks)));
           }),
           Release())
      .def("run", &run, Release())
      .def("set_threads", &SharedModel::set_threads)
      .def_property_readonly("threads", [](const SharedModel& s) { return s.model().threads(); })
      .def_property_readonly("input_shape", [](const SharedModel& s) { return s.model().input_shape(); })
      .def_property_readonly("outputs", [](const SharedModel& s) { return s.model().outputs(); })
      .def_property_readonly("classes", [](const SharedModel& s) { return s.model().classes(); })
      .def_property_readonly("vocabularies", [](const SharedModel& s) { return s.model().vocabularies(); })
      .def_property_readonly("metadata", [](const SharedModel& s) { return s.model().metadata(); });
}

}  // namespace hewn::python
