// Networks of general tensors: ONNX files, and model.hewn files that were made of them.
#include <ATen/ops/empty.h>
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include <cstring>

#include "bindings.h"
#include "copies.h"
#include "hewn/core/error.h"
#include "hewn/flow/model_file.h"
#include "hewn/flow/network.h"
#include "hewn/io/source_kind.h"
#include "hewn/onnx/export.h"
#include "hewn/onnx/import.h"

namespace py = pybind11;

namespace hewn::python {
namespace {

using SharedNetwork = Copies<flow::Network>;
using Metadata = std::map<std::string, std::string>;

at::ScalarType scalar_type(flow::Type type) {
  return type == flow::Type::kFloat ? at::kFloat : type == flow::Type::kInt ? at::kLong : at::kBool;
}

/// In the network's own element type: counts of any width are its 64-bit integers, halves its floats.
flow::Tensor tensor_from(const at::Tensor& given, flow::Type type) {
  const at::Tensor tensor = given.detach().to(at::kCPU).to(scalar_type(type)).contiguous();
  flow::Tensor out({type, tensor.sizes().vec()});
  std::memcpy(out.bytes(), tensor.data_ptr(), out.byte_count());
  return out;
}

at::Tensor tensor_to(const flow::Tensor& given) {
  at::Tensor out = at::empty(given.dims(), at::TensorOptions().dtype(scalar_type(given.type())));
  std::memcpy(out.data_ptr(), given.bytes(), given.byte_count());
  return out;
}

/// Whether a number of one kind can be given where another is expected without losing what it says.
bool fits(const at::Tensor& given, flow::Type type) {
  if (type == flow::Type::kBool) return given.scalar_type() == at::kBool;
  if (type == flow::Type::kInt) return at::isIntegralType(given.scalar_type(), /*includeBool=*/false);
  return at::isFloatingType(given.scalar_type());
}

std::vector<at::Tensor> run(SharedNetwork& shared, const std::vector<at::Tensor>& given) {
  const flow::Graph& graph = shared.model().graph();
  if (given.size() != graph.inputs.size())
    throw Error(hewn::str("inputs: expected ", graph.inputs.size(), ", got ", given.size()));
  std::vector<flow::Tensor> inputs;
  for (size_t i = 0; i < given.size(); ++i) {
    const flow::Port& port = graph.inputs[i];
    if (!fits(given[i], port.spec.type)) {
      throw Error(hewn::str("input ", graph.name(port.value), ": expected ", flow::name_of(port.spec.type),
                            ", got ", c10::toString(given[i].scalar_type())));
    }
    inputs.push_back(tensor_from(given[i], port.spec.type));
  }
  std::vector<at::Tensor> out;
  shared.use([&](flow::Network& mine) {
    for (const flow::Tensor& tensor : mine.run(inputs)) out.push_back(tensor_to(tensor));
  });
  return out;
}

/// Name, type and dimensions of each; a dimension below 0 may be anything.
std::vector<std::tuple<std::string, std::string, flow::Dims>> ports(const flow::Graph& graph,
                                                                    const std::vector<flow::Port>& of) {
  std::vector<std::tuple<std::string, std::string, flow::Dims>> out;
  for (const flow::Port& port : of)
    out.emplace_back(graph.name(port.value), std::string(flow::name_of(port.spec.type)), port.spec.dims);
  return out;
}

bool is_network(const std::string& path) {
  const io::SourceKind kind = io::kind_of(path);
  return kind == io::SourceKind::kOnnx || (kind == io::SourceKind::kModel && flow::is_flow_model(path));
}

flow::FlowModel open_network(const std::string& path) {
  if (flow::is_flow_model(path)) return flow::read_flow_model(path);
  return {onnx::read_onnx(path), {}};
}

}  // namespace

void bind_networks(py::module_& m) {
  using Release = py::call_guard<py::gil_scoped_release>;
  m.def("is_network", &is_network);
  m.def("require_onnx", &onnx::require_onnx);
  m.def(
      "network_from_onnx",
      [](const std::string& from, const std::string& to, const Metadata& about) {
        flow::write_flow_model(to, onnx::read_onnx(from), about);
      },
      Release());
  py::class_<SharedNetwork, std::shared_ptr<SharedNetwork>>(m, "Network")
      .def(py::init([](const std::string& path, int64_t block) {
             flow::FlowModel model = open_network(path);
             const int64_t side = block > 0 ? block : model.block();
             return std::make_shared<SharedNetwork>(flow::Network(std::move(model.graph), side));
           }),
           Release())
      .def("run", &run, Release())
      .def("set_threads", &SharedNetwork::set_threads)
      .def_property_readonly("threads", [](const SharedNetwork& s) { return s.model().threads(); })
      .def_property_readonly(
          "inputs", [](const SharedNetwork& s) { return ports(s.model().graph(), s.model().graph().inputs); })
      .def_property_readonly("outputs", [](const SharedNetwork& s) {
        return ports(s.model().graph(), s.model().graph().outputs);
      });
}

}  // namespace hewn::python
