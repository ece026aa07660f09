// ONNX's own tests of operators: a model each, with recorded inputs and outputs (Debian: libonnx-testdata).
// Every operator of ops.def is tried with all of its tests, so a new one is covered as soon as it has its
// line.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/flow/evaluate.h"
#include "hewn/flow/network.h"
#include "hewn/onnx/import.h"
#include "hewn/onnx/tensors.h"

namespace hewn::onnx {
namespace {

/// HEWN_NODE_TESTS names another folder of the same kind, such as that of a newer ONNX.
std::filesystem::path data_folder() {
  const char* other = std::getenv("HEWN_NODE_TESTS");
  return other == nullptr ? "/usr/share/libonnx-testdata/data/node" : other;
}

::onnx::ModelProto read_model(const std::filesystem::path& folder) {
  ::onnx::ModelProto model;
  model.ParseFromString(read_file(folder / "model.onnx"));
  return model;
}

/// Why a test is not for this runtime, or nothing.
std::string refusal(const ::onnx::ModelProto& model) {
  std::set<std::string> ops;
  for (const auto& node : model.graph().node()) {
    if (flow::find_operator(node.op_type()) == nullptr) return "another operator";
    for (const auto& attribute : node.attribute()) {
      if (attribute.name() == "training_mode" && attribute.i() != 0) return "training mode";
      const bool window = node.op_type() == "Conv" || node.op_type().find("Pool") != std::string::npos;
      if (window && attribute.name() == "kernel_shape" && attribute.ints_size() > 2)
        return "three dimensions";
    }
    if (node.op_type() == "Dropout" && node.input_size() > 2) return "training mode";
  }
  for (const auto* ports : {&model.graph().input(), &model.graph().output()}) {
    for (const auto& port : *ports) {
      const int type = port.type().tensor_type().elem_type();
      if (!port.type().has_tensor_type()) return "not a tensor";
      if (type != 1 && type != 7 && type != 9) return "another element type";
    }
  }
  return "";
}

flow::Tensor read_recorded(const std::filesystem::path& file) {
  ::onnx::TensorProto proto;
  proto.ParseFromString(read_file(file));
  return read_tensor(proto, {});
}

std::vector<flow::Tensor> recorded(const std::filesystem::path& folder, const std::string& kind) {
  std::vector<flow::Tensor> out;
  for (int i = 0;; ++i) {
    const auto file = folder / (kind + "_" + std::to_string(i) + ".pb");
    if (!std::filesystem::exists(file)) return out;
    out.push_back(read_recorded(file));
  }
}

/// What is wrong with a result, or nothing.
std::string difference(const flow::Tensor& got, const flow::Tensor& expected) {
  if (got.spec() != expected.spec())
    return to_string(got.spec()) + " instead of " + to_string(expected.spec());
  for (size_t i = 0; i < static_cast<size_t>(got.elements()); ++i) {
    if (got.type() == flow::Type::kFloat) {
      const float a = got.values<float>()[i];
      const float b = expected.values<float>()[i];
      if (std::isnan(a) != std::isnan(b) ||
          (!std::isnan(a) && a != b && std::abs(a - b) > 1e-5F + 1e-4F * std::abs(b)))
        return str("element ", i, " is ", a, " instead of ", b);
    } else if (got.type() == flow::Type::kInt) {
      if (got.values<int64_t>()[i] != expected.values<int64_t>()[i]) return str("element ", i, " differs");
    } else if (got.values<bool>()[i] != expected.values<bool>()[i]) {
      return str("element ", i, " differs");
    }
  }
  return "";
}

std::string run_test(const std::filesystem::path& folder) {
  try {
    const flow::Graph graph = read_onnx(folder / "model.onnx");
    for (int set = 0;; ++set) {
      const auto data = folder / ("test_data_set_" + std::to_string(set));
      if (!std::filesystem::exists(data)) return "";
      const auto inputs = recorded(data, "input");
      const auto outputs = flow::evaluate(graph, inputs);
      flow::Network network(graph);
      const auto planned = network.run(inputs);
      const auto expected = recorded(data, "output");
      for (size_t i = 0; i < expected.size(); ++i) {
        const std::string wrong = difference(outputs.at(i), expected[i]);
        if (!wrong.empty()) return str("output ", i, ": ", wrong);
        const std::string planned_wrong = difference(planned.at(i), expected[i]);
        if (!planned_wrong.empty()) return str("output ", i, " of its plan: ", planned_wrong);
      }
    }
  } catch (const std::exception& error) {
    return error.what();
  } catch (const flow::NotKnown&) {
    return "asks for numbers that are not known";
  }
}

TEST(NodeTests, OfEveryOperatorPass) {
  const std::filesystem::path data = data_folder();
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "libonnx-testdata is not installed";
  std::map<std::string, int> refused;
  int passed = 0;
  int failed = 0;
  std::set<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(data)) folders.insert(entry.path());
  for (const auto& folder : folders) {
    const std::string reason = refusal(read_model(folder));
    if (!reason.empty()) {
      ++refused[reason];
      continue;
    }
    const std::string problem = run_test(folder);
    problem.empty() ? ++passed : ++failed;
    EXPECT_EQ(problem, "") << folder.filename();
  }
  std::cout << "passed " << passed << ", failed " << failed;
  for (const auto& [reason, count] : refused) std::cout << ", refused for " << reason << " " << count;
  std::cout << "\n";
  EXPECT_GT(passed, 0);
}

}  // namespace
}  // namespace hewn::onnx
