#include "hewn/onnx/edit.h"

#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>

#include <cstring>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/onnx/tensors.h"

namespace hewn::onnx {
namespace {

using ::onnx::TensorProto;

void write_floats(const flow::Tensor& from, TensorProto& to) {
  if (from.type() != flow::Type::kFloat) throw Error(str("tensor ", to.name(), ": expected floats"));
  to.clear_dims();
  for (const int64_t dim : from.dims()) to.add_dims(dim);
  to.set_data_type(TensorProto::FLOAT);
  to.clear_float_data();
  to.clear_external_data();
  to.clear_data_location();
  to.set_raw_data(from.bytes(), from.byte_count());
}

/// The tensor of a Constant node, or null.
TensorProto* constant_of(::onnx::NodeProto& node) {
  if (node.op_type() != "Constant") return nullptr;
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.name() == "value" && attribute.has_t()) return attribute.mutable_t();
  }
  return nullptr;
}

void bring_in(TensorProto& tensor, const std::filesystem::path& folder) {
  if (tensor.data_location() != TensorProto::EXTERNAL) return;
  const std::string data = read_data(tensor, folder);
  tensor.clear_external_data();
  tensor.clear_data_location();
  tensor.set_raw_data(data);
}

void replace_one(::onnx::GraphProto& graph, const std::string& name, const flow::Tensor& value) {
  for (auto& tensor : *graph.mutable_initializer()) {
    if (tensor.name() == name) return write_floats(value, tensor);
  }
  for (int i = 0; i < graph.node_size(); ++i) {
    auto& node = *graph.mutable_node(i);
    if (node.output_size() != 1 || node.output(0) != name) continue;
    if (TensorProto* tensor = constant_of(node); tensor != nullptr) return write_floats(value, *tensor);
    // What was computed from constants is one now.
    graph.mutable_node()->DeleteSubrange(i, 1);
    TensorProto* tensor = graph.add_initializer();
    tensor->set_name(name);
    return write_floats(value, *tensor);
  }
  throw Error(str("there is no constant ", name));
}

}  // namespace

std::string replace_constants(const std::filesystem::path& path,
                              const std::map<std::string, flow::Tensor>& constants) {
  const google::protobuf::LogSilencer silence;
  ::onnx::ModelProto model;
  if (!model.ParseFromString(read_file(path))) throw FormatError(path.string(), "is not an ONNX model");
  try {
    auto& graph = *model.mutable_graph();
    for (const auto& [name, value] : constants) replace_one(graph, name, value);
    for (auto& tensor : *graph.mutable_initializer()) bring_in(tensor, path.parent_path());
    for (auto& node : *graph.mutable_node()) {
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_t()) bring_in(*attribute.mutable_t(), path.parent_path());
      }
    }
  } catch (const FormatError&) {
    throw;
  } catch (const Error& error) {
    throw FormatError(path.string(), error.what());
  }
  std::string bytes;
  if (model.ByteSizeLong() > INT32_MAX || !model.SerializeToString(&bytes)) {
    throw FormatError(path.string(), "would be longer than 2 GiB with all its tensors inside");
  }
  return bytes;
}

}  // namespace hewn::onnx
