// Files of other exporters, with inputs and what ONNX Runtime made of them: NAME.onnx, NAME.in.PORT.npy and
// NAME.out.PORT.npy. recorded/ holds a small one that PyTorch 2.11 wrote in opset 18
// (bench/onnx/torch211.py); HEWN_RECORDED names a folder with more.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "hewn/flow/network.h"
#include "hewn/io/npy.h"
#include "hewn/onnx/import.h"

namespace hewn::onnx {
namespace {

flow::Tensor read_tensor(const std::filesystem::path& file) {
  const io::NpyArray array = io::read_npy_array(file);
  flow::Tensor out;
  std::visit(
      [&](const auto& values) {
        using Value = typename std::decay_t<decltype(values)>::value_type;
        const flow::Type type = std::is_same_v<Value, float>     ? flow::Type::kFloat
                                : std::is_same_v<Value, int64_t> ? flow::Type::kInt
                                                                 : flow::Type::kBool;
        out = flow::Tensor(flow::Spec{type, array.dims});
        std::memcpy(out.bytes(), values.data(), out.byte_count());
      },
      array.values);
  return out;
}

/// The largest difference over the largest number; of integers how many differ.
double difference(const flow::Tensor& got, const flow::Tensor& expected) {
  if (got.type() != flow::Type::kFloat) {
    return std::memcmp(got.bytes(), expected.bytes(), got.byte_count()) == 0 ? 0 : 1;
  }
  double most = 0;
  double apart = 0;
  for (size_t i = 0; i < got.values<float>().size(); ++i) {
    const double value = expected.values<float>()[i];
    most = std::max(most, std::abs(value));
    const double here = std::abs(got.values<float>()[i] - value);
    if (!(here <= apart)) apart = here;
  }
  return apart / most;
}

void expect_as_recorded(const std::filesystem::path& file) {
  SCOPED_TRACE(file);
  flow::Network network(read_onnx(file));
  const auto beside = [&](const std::string& kind, int32_t value) {
    const std::string& name = network.graph().name(value);
    return file.parent_path() / (file.stem().string() + "." + kind + "." + name + ".npy");
  };
  std::vector<flow::Tensor> inputs;
  for (const flow::Port& port : network.graph().inputs)
    inputs.push_back(read_tensor(beside("in", port.value)));
  for (const int threads : {1, 2}) {
    network.set_threads(threads);
    const std::vector<flow::Tensor> outputs = network.run(inputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const flow::Tensor expected = read_tensor(beside("out", network.graph().outputs[i].value));
      ASSERT_EQ(outputs[i].spec(), expected.spec());
      const double apart = difference(outputs[i], expected);
      EXPECT_LE(apart, 1e-5);
      if (std::getenv("HEWN_RECORDED") != nullptr) std::cout << file.stem() << " " << apart << "\n";
    }
  }
}

TEST(Recorded, FilesOfOtherExportersGiveWhatOnnxRuntimeGave) {
  const char* more = std::getenv("HEWN_RECORDED");
  int files = 0;
  for (const std::filesystem::path& folder : {std::filesystem::path(HEWN_SOURCE_DIR) / "tests/onnx/recorded",
                                              std::filesystem::path(more == nullptr ? "" : more)}) {
    if (folder.empty()) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".onnx") continue;
      expect_as_recorded(entry.path());
      ++files;
    }
  }
  EXPECT_GE(files, 1);
}

}  // namespace
}  // namespace hewn::onnx
