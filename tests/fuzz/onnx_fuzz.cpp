// Reads arbitrary bytes as an ONNX model and, where they pass for one and what they ask for is small, runs
// it: node by node, and as a network made ready. Built by ./dev fuzz with clang's libFuzzer. Half of the
// changes are made to models, not to bytes.
#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "hewn/core/error.h"
#include "hewn/flow/network.h"
#include "hewn/onnx/import.h"
#include "small_graph.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

using hewn::flow::Graph;
using hewn::flow::Tensor;

/// Numbers at which things end.
int64_t number(std::minstd_rand& random) {
  constexpr int64_t kNumbers[] = {0,   1,    -1,      2,       -2,        3,         4,        7,
                                  255, -128, 1 << 14, 1 << 28, INT32_MAX, INT64_MAX, INT64_MIN};
  return kNumbers[random() % std::size(kNumbers)];
}

template <class Field>
auto& any_of(Field& field, std::minstd_rand& random) {
  return *field.Mutable(static_cast<int>(random() % static_cast<unsigned>(field.size())));
}

void change_attribute(onnx::NodeProto& node, std::minstd_rand& random) {
  if (node.attribute_size() == 0) return;
  onnx::AttributeProto& attribute = any_of(*node.mutable_attribute(), random);
  if (attribute.ints_size() > 0) {
    *attribute.mutable_ints()->Mutable(
        static_cast<int>(random() % static_cast<unsigned>(attribute.ints_size()))) = number(random);
  } else {
    attribute.set_i(number(random));
    attribute.set_f(static_cast<float>(attribute.i()));
  }
}

void change_tensor(onnx::GraphProto& graph, std::minstd_rand& random) {
  if (graph.initializer_size() == 0) return;
  onnx::TensorProto& tensor = any_of(*graph.mutable_initializer(), random);
  std::string& raw = *tensor.mutable_raw_data();
  if (random() % 3 == 0 && tensor.dims_size() > 0) {
    tensor.set_dims(static_cast<int>(random() % static_cast<unsigned>(tensor.dims_size())), number(random));
  } else if (raw.size() >= 8) {
    const int64_t value = number(random);
    raw.replace(random() % (raw.size() / 8) * 8, 8, std::string(reinterpret_cast<const char*>(&value), 8));
  }
}

void change_input(onnx::GraphProto& graph, std::minstd_rand& random) {
  if (graph.input_size() == 0) return;
  auto& type = *any_of(*graph.mutable_input(), random).mutable_type()->mutable_tensor_type();
  if (random() % 4 == 0) return type.set_elem_type(random() % 2 == 0 ? 7 : 9);
  auto& shape = *type.mutable_shape();
  if (random() % 4 == 0 || shape.dim_size() == 0) return shape.add_dim()->set_dim_value(3);
  any_of(*shape.mutable_dim(), random).set_dim_value(static_cast<int64_t>(random() % 6));
}

void change_node(onnx::NodeProto& node, std::minstd_rand& random) {
  const auto& all = hewn::flow::operators();
  if (random() % 2 == 0) node.set_op_type(std::string(all[random() % all.size()]->name));
  if (random() % 3 == 0) node.add_output("extra" + std::to_string(node.output_size()));
  if (random() % 3 == 0 && node.input_size() > 0) node.add_input(node.input(0));
  if (random() % 3 == 0 && node.input_size() > 0) any_of(*node.mutable_input(), random).clear();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const Graph graph =
        hewn::onnx::parse_onnx({reinterpret_cast<const char*>(data), size}, "fuzz", "/nowhere");
    std::vector<Tensor> inputs;
    if (!fuzz::make_inputs(graph, inputs) || !fuzz::stays_small(graph, inputs)) return 0;
    hewn::flow::Network network(graph);
    network.run(inputs);
  } catch (const hewn::Error&) {
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  std::minstd_rand random(seed);
  onnx::ModelProto model;
  if (random() % 2 == 0 || !model.ParseFromArray(data, static_cast<int>(size)) ||
      model.graph().node_size() == 0) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::NodeProto& node = any_of(*graph.mutable_node(), random);
  for (unsigned changes = random() % 3 + 1; changes > 0; --changes) {
    switch (random() % 5) {
      case 0:
        change_attribute(node, random);
        break;
      case 1:
        change_tensor(graph, random);
        break;
      case 2:
        change_input(graph, random);
        break;
      case 3:
        change_node(node, random);
        break;
      default:
        if (model.opset_import_size() > 0)
          model.mutable_opset_import(0)->set_version(static_cast<int64_t>(random() % 12 + 10));
    }
  }
  const std::string bytes = model.SerializeAsString();
  if (bytes.size() > max_size) return size;
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
