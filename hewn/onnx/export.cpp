#include "hewn/onnx/export.h"

#include <onnx/onnx_pb.h>

#include <bit>
#include <climits>
#include <set>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/version.h"
#include "hewn/onnx/spell_out.h"

namespace hewn::onnx {
namespace {

using ::onnx::AttributeProto;
using ::onnx::TensorProto;

constexpr int64_t kOwnOpset = 17;
// The format of the file itself: what came with opset 15, and is enough for all that follow.
constexpr int64_t kFormat = 8;

static_assert(std::endian::native == std::endian::little, "raw data of ONNX is little-endian");

/// The opset of all nodes, but for those that can be spelt out in any.
int64_t opset_of_nodes(const flow::Graph& graph) {
  const flow::Node* first = nullptr;
  for (const flow::Node& node : graph.nodes) {
    if (can_be_spelt_out(node.op)) continue;
    if (first == nullptr) first = &node;
    if (node.opset != first->opset) {
      throw Error(str("nodes follow the rules of several opsets: ", to_string(*first), " those of ",
                      first->opset, ", ", to_string(node), " those of ", node.opset));
    }
  }
  return first == nullptr ? kOwnOpset : first->opset;
}

int element_type(flow::Type type) {
  if (type == flow::Type::kFloat) return TensorProto::FLOAT;
  return type == flow::Type::kInt ? TensorProto::INT64 : TensorProto::BOOL;
}

void fill(TensorProto& to, const std::string& name, const flow::Tensor& from) {
  if (!name.empty()) to.set_name(name);
  to.set_data_type(element_type(from.type()));
  for (const int64_t extent : from.dims()) to.add_dims(extent);
  to.set_raw_data(from.bytes(), from.byte_count());
}

/// Attributes by their kind, one function each.
struct FillAttribute {
  AttributeProto& to;

  void operator()(int64_t value) const {
    to.set_type(AttributeProto::INT);
    to.set_i(value);
  }
  void operator()(float value) const {
    to.set_type(AttributeProto::FLOAT);
    to.set_f(value);
  }
  void operator()(const std::string& value) const {
    to.set_type(AttributeProto::STRING);
    to.set_s(value);
  }
  void operator()(const std::vector<int64_t>& values) const {
    to.set_type(AttributeProto::INTS);
    for (const int64_t value : values) to.add_ints(value);
  }
  void operator()(const std::vector<float>& values) const {
    to.set_type(AttributeProto::FLOATS);
    for (const float value : values) to.add_floats(value);
  }
  void operator()(const flow::Tensor& tensor) const {
    to.set_type(AttributeProto::TENSOR);
    fill(*to.mutable_t(), "", tensor);
  }
};

class Writer {
 public:
  Writer(const flow::Graph& graph, const FileOptions& options, ::onnx::GraphProto& to)
      : graph_(graph), options_(options), to_(to), names_(graph.values.size()) {}

  void run() {
    // Who uses the file knows it by these names, so they stay what they are.
    for (const flow::Port& port : graph_.inputs) name(port.value);
    for (const flow::Port& port : graph_.outputs) name(port.value);
    to_.set_name("hewn");
    for (const flow::Port& port : graph_.inputs) add_port(port, name(port.value), *to_.add_input());
    for (const auto& [value, tensor] : graph_.constants) fill(*to_.add_initializer(), name(value), tensor);
    for (const flow::Node& node : graph_.nodes) add_node(node);
    std::set<int32_t> taken;
    for (const flow::Port& port : graph_.inputs) taken.insert(port.value);
    for (const flow::Port& port : graph_.outputs) {
      const bool own = graph_.constant(port.value) == nullptr && taken.insert(port.value).second;
      add_port(port, own ? name(port.value) : copy_of(port.value), *to_.add_output());
    }
  }

 private:
  static std::string fresh_in(std::set<std::string>& used, const std::string& base) {
    std::string out = base;
    for (int i = 1; !used.insert(out).second; ++i) out = str(base, "_", i);
    return out;
  }
  std::string fresh(const std::string& wanted) { return fresh_in(used_, wanted.empty() ? "value" : wanted); }
  const std::string& name(int32_t value) {
    std::string& known = names_[static_cast<size_t>(value)];
    if (known.empty()) known = fresh(graph_.name(value));
    return known;
  }
  /// An output is made by a node, and is there once.
  std::string copy_of(int32_t value) {
    ::onnx::NodeProto& node = *to_.add_node();
    node.set_op_type("Identity");
    node.add_input(name(value));
    node.add_output(fresh(graph_.name(value)));
    return node.output(0);
  }

  void add_port(const flow::Port& port, const std::string& called, ::onnx::ValueInfoProto& to) const {
    to.set_name(called);
    auto& type = *to.mutable_type()->mutable_tensor_type();
    type.set_elem_type(element_type(port.spec.type));
    auto& shape = *type.mutable_shape();
    for (size_t i = 0; i < port.spec.dims.size(); ++i) {
      auto& dim = *shape.add_dim();
      if (port.spec.dims[i] >= 0) {
        dim.set_dim_value(port.spec.dims[i]);
      } else if (i < options_.axes.size() && graph_.inputs.size() == 1) {
        dim.set_dim_param(options_.axes[i]);
      }
    }
  }

  void add_node(const flow::Node& from) {
    ::onnx::NodeProto& to = *to_.add_node();
    to.set_op_type(from.op);
    // ONNX Runtime takes no two nodes of one name.
    if (!from.name.empty()) to.set_name(fresh_in(used_nodes_, from.name));
    for (const int32_t value : from.inputs) to.add_input(value == flow::kNone ? "" : name(value));
    for (const int32_t value : from.outputs) to.add_output(value == flow::kNone ? "" : name(value));
    for (const auto& [key, value] : from.attributes) {
      AttributeProto& attribute = *to.add_attribute();
      attribute.set_name(key);
      std::visit(FillAttribute{attribute}, value);
    }
  }

  const flow::Graph& graph_;
  const FileOptions& options_;
  ::onnx::GraphProto& to_;
  std::vector<std::string> names_;  // of values, in the file
  std::set<std::string> used_;
  std::set<std::string> used_nodes_;
};

}  // namespace

void require_onnx() {}

std::string onnx_bytes(const flow::Graph& graph, const FileOptions& options) {
  const int64_t opset = opset_of_nodes(graph);
  flow::Graph spelt = graph;
  spell_out(spelt, opset);
  ::onnx::ModelProto model;
  model.set_ir_version(kFormat);
  model.set_producer_name("hewn");
  model.set_producer_version(kVersion);
  auto& import = *model.add_opset_import();
  import.set_domain("");
  import.set_version(opset);
  for (const auto& [key, value] : options.metadata) {
    auto& entry = *model.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  Writer(spelt, options, *model.mutable_graph()).run();
  if (model.ByteSizeLong() > INT_MAX) throw Error("an ONNX file cannot hold more than 2 GiB");
  return model.SerializeAsString();
}

void write_onnx(const std::filesystem::path& path, const flow::Graph& graph, const FileOptions& options) {
  write_file_atomically(path, onnx_bytes(graph, options));
}

}  // namespace hewn::onnx
