#include "hewn/onnx/import.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>

#include <set>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/text.h"
#include "hewn/flow/evaluate.h"
#include "hewn/flow/op/operator.h"
#include "hewn/onnx/tensors.h"

namespace hewn::onnx {
namespace {

using ::onnx::AttributeProto;

constexpr int64_t kFirstOpset = 11;
constexpr int64_t kLastOpset = 20;
/// Operators that said something else in earlier opsets, which frameworks no longer write; the others never
/// changed what they mean.
const std::map<std::string, int64_t> kChanged = {{"Add", 7},    {"And", 7},     {"BatchNormalization", 9},
                                                 {"Cast", 9},   {"Clip", 11},   {"Concat", 4},
                                                 {"Div", 7},    {"Dropout", 7}, {"Equal", 7},
                                                 {"Gemm", 7},   {"Greater", 7}, {"LeakyRelu", 6},
                                                 {"Less", 7},   {"Mul", 7},     {"Or", 7},
                                                 {"PRelu", 7},  {"Pad", 11},    {"Pow", 7},
                                                 {"Relu", 6},   {"Reshape", 5}, {"Resize", 11},
                                                 {"Slice", 10}, {"Sub", 7},     {"Tile", 6},
                                                 {"TopK", 10},  {"Xor", 7}};
constexpr int kMostNodes = 1 << 17;

/// A name from a file, fit for one line.
std::string shown(const std::string& name) { return printable(std::string_view(name).substr(0, 80)); }

/// What `body` returns; errors in it begin with what was read.
template <class Body>
auto named(const char* kind, const std::string& name, const Body& body) {
  try {
    return body();
  } catch (const Error& error) {
    throw Error(str(kind, " ", shown(name), ": ", error.what()));
  }
}

class Importer {
 public:
  Importer(const ::onnx::ModelProto& model, std::filesystem::path folder)
      : proto_(model.graph()), folder_(std::move(folder)), opset_(opset_of(model)) {}

  flow::Graph run() {
    expect_supported();
    for (const auto& tensor : proto_.initializer()) {
      graph_.constants[new_value(tensor.name())] =
          named("tensor", tensor.name(), [&] { return read_tensor(tensor, folder_); });
    }
    for (const auto& input : proto_.input()) {
      if (numbers_.count(input.name()) == 0) graph_.inputs.push_back(port(input, new_value(input.name())));
    }
    for (const auto& node : proto_.node()) add(node);
    for (const auto& output : proto_.output()) {
      const auto found = numbers_.find(output.name());
      if (found == numbers_.end()) throw Error(str("nothing makes the output ", shown(output.name())));
      graph_.outputs.push_back(port(output, found->second));
    }
    if (graph_.outputs.empty()) throw Error("the graph has no output");
    flow::fold_constants(graph_);
    return std::move(graph_);
  }

 private:
  static int64_t opset_of(const ::onnx::ModelProto& model) {
    int64_t opset = 0;
    for (const auto& import : model.opset_import()) {
      if (import.domain().empty() || import.domain() == "ai.onnx") opset = import.version();
    }
    if (opset < 1 || opset > kLastOpset) {
      throw Error(str("opset ", opset, " is not supported, expected ", kFirstOpset, " to ", kLastOpset));
    }
    for (const auto& node : model.graph().node()) {
      const auto found = kChanged.find(node.op_type());
      if (found != kChanged.end() && opset < found->second) {
        throw Error(str(node.op_type(), " of opset ", opset, " is not supported, expected ", kFirstOpset,
                        " to ", kLastOpset));
      }
    }
    return opset;
  }

  void expect_supported() const {
    if (proto_.node_size() > kMostNodes) throw Error(str("has more than ", kMostNodes, " nodes"));
    if (proto_.sparse_initializer_size() > 0) throw Error("sparse tensors are not supported");
    std::set<std::string> missing;
    for (const auto& node : proto_.node()) {
      const bool own = node.domain().empty() || node.domain() == "ai.onnx";
      if (!own || flow::find_operator(node.op_type()) == nullptr) {
        missing.insert((own ? "" : shown(node.domain()) + ".") + shown(node.op_type()));
      }
    }
    if (missing.empty()) return;
    std::string list;
    for (const std::string& name : missing) list += (list.empty() ? "" : ", ") + name;
    throw Error(str(missing.size() == 1 ? "an operator is" : "operators are", " not supported: ", list));
  }

  int32_t new_value(const std::string& name) {
    const int32_t value = graph_.add_value(name);
    if (!numbers_.emplace(name, value).second) throw Error(str("the value ", shown(name), " is made twice"));
    return value;
  }

  flow::Port port(const ::onnx::ValueInfoProto& info, int32_t value) const {
    return named("value", info.name(), [&] {
      if (!info.type().has_tensor_type()) throw Error("is not a tensor");
      const auto& type = info.type().tensor_type();
      using ::onnx::TensorProto;
      if (type.elem_type() != TensorProto::FLOAT && type.elem_type() != TensorProto::INT64 &&
          type.elem_type() != TensorProto::BOOL) {
        throw Error("expected a tensor of float, int64 or bool");
      }
      flow::Port port{value, {type_of(type.elem_type()), {}}};
      for (const auto& dim : type.shape().dim()) {
        port.spec.dims.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : -1);
      }
      return port;
    });
  }

  flow::Attribute attribute(const AttributeProto& proto) const {
    switch (proto.type()) {
      case AttributeProto::INT:
        return proto.i();
      case AttributeProto::FLOAT:
        return proto.f();
      case AttributeProto::STRING:
        return proto.s();
      case AttributeProto::INTS:
        return std::vector<int64_t>(proto.ints().begin(), proto.ints().end());
      case AttributeProto::FLOATS:
        return std::vector<float>(proto.floats().begin(), proto.floats().end());
      case AttributeProto::TENSOR:
        return read_tensor(proto.t(), folder_);
      default:
        throw Error(str("attribute ", shown(proto.name()), " is of a kind that is not supported"));
    }
  }

  void add(const ::onnx::NodeProto& proto) {
    flow::Node node;
    node.op = proto.op_type();
    node.name = shown(proto.name());
    node.opset = opset_;
    for (const auto& item : proto.attribute()) {
      node.attributes[item.name()] = named("node", to_string(node), [&] { return attribute(item); });
    }
    for (const std::string& name : proto.input()) {
      const auto found = numbers_.find(name);
      if (!name.empty() && found == numbers_.end()) {
        throw Error(str("node ", to_string(node), ": nothing before it makes ", shown(name)));
      }
      node.inputs.push_back(name.empty() ? flow::kNone : found->second);
    }
    while (!node.inputs.empty() && node.inputs.back() == flow::kNone) node.inputs.pop_back();
    for (const std::string& name : proto.output()) {
      node.outputs.push_back(name.empty() ? flow::kNone : new_value(name));
    }
    graph_.nodes.push_back(std::move(node));
  }

  const ::onnx::GraphProto& proto_;
  std::filesystem::path folder_;
  int64_t opset_;
  flow::Graph graph_;
  std::map<std::string, int32_t> numbers_;
};

}  // namespace

namespace {

::onnx::ModelProto parse_model(const std::string& bytes, const std::string& where) {
  const google::protobuf::LogSilencer silence;  // it would print what is wrong with the bytes
  ::onnx::ModelProto model;
  google::protobuf::io::ArrayInputStream array(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream stream(&array);
  stream.SetRecursionLimit(64);
  if (!model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage() || !model.has_graph()) {
    throw FormatError(where, "is not an ONNX model");
  }
  return model;
}

std::string read_bytes(const std::filesystem::path& path) {
  constexpr uintmax_t kMostBytes = INT32_MAX;
  std::error_code code;
  if (std::filesystem::file_size(path, code) > kMostBytes && !code) {
    throw FormatError(path.string(), "is longer than 2 GiB; keep its tensors in files beside it");
  }
  return read_file(path);
}

}  // namespace

flow::Graph parse_onnx(const std::string& bytes, const std::string& where,
                       const std::filesystem::path& folder) {
  const ::onnx::ModelProto model = parse_model(bytes, where);
  try {
    return Importer(model, folder).run();
  } catch (const FormatError&) {
    throw;
  } catch (const Error& error) {
    throw FormatError(where, error.what());
  }
}

flow::Graph read_onnx(const std::filesystem::path& path) {
  return parse_onnx(read_bytes(path), path.string(), path.parent_path());
}

std::map<std::string, std::string> read_metadata(const std::filesystem::path& path) {
  const ::onnx::ModelProto model = parse_model(read_bytes(path), path.string());
  std::map<std::string, std::string> out;
  for (const auto& entry : model.metadata_props()) out[entry.key()] = entry.value();
  return out;
}

}  // namespace hewn::onnx
