// What hewn 0.1 wrote (tests/old: a finished run, two that were cut off after 25 of 60 steps, and how they
// ended, a model file; images.pack is for tests/data) opens, evaluates and goes on to the same bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>

#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "hewn/io/safetensors.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::test {
namespace {

const std::filesystem::path kOld = std::filesystem::path(HEWN_SOURCE_DIR) / "tests/old";

/// The processor's name, family and model: matrix products choose by them.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string out;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    for (const char* key : {"cpu family", "model\t", "model name"}) {
      if (line.starts_with(key)) out += (out.empty() ? "" : ", ") + line.substr(line.find(':') + 2);
    }
  }
  return out;
}

class OldFiles : public testing::Test {
 protected:
  void SetUp() override { write_tiny_mnist(folder_ / "data", 640, 100); }

  std::string data() const { return "mnist:" + (folder_ / "data").string(); }

  /// A copy whose options name the data of this test.
  std::string copy_of(const std::string& run) const {
    std::filesystem::copy(kOld / run, folder_ / run, std::filesystem::copy_options::recursive);
    const std::filesystem::path config = folder_ / run / "config.json";
    std::string text = read_file(config);
    text.replace(text.find("mnist:DATA"), 10, data());
    write_text(config, text);
    return (folder_ / run).string();
  }

  TempFolder folder_;
};

TEST_F(OldFiles, AFinishedRunEvaluatesExportsAndReports) {
  const std::string run = copy_of("finished");
  const Outcome eval = hewn({"eval", run, "--json", "--threads", "1"});
  ASSERT_EQ(eval.code, 0) << eval.err;
  EXPECT_EQ(Json::parse(eval.out)["metrics"]["accuracy"], 83.0);
  const Outcome inspect = hewn({"inspect", run, "--json"});
  ASSERT_EQ(inspect.code, 0) << inspect.err;
  EXPECT_EQ(Json::parse(inspect.out)["kept_blocks"], 78);
  const Outcome report = hewn({"report", run, "--json", "--no-latency"});
  EXPECT_EQ(report.code, 0) << report.err;
  const std::string file = (folder_ / "model.hewn").string();
  ASSERT_EQ(hewn({"export", run, "--to", file}).code, 0);
  for (const std::string& model : {file, (kOld / "model.hewn").string()}) {
    const Outcome predict = hewn({"predict", model, "--data", data(), "--json", "--threads", "1"});
    ASSERT_EQ(predict.code, 0) << predict.err;
    EXPECT_EQ(Json::parse(predict.out)["metrics"]["accuracy"], 83.0) << model;
  }
}

TEST_F(OldFiles, ARunThatWasCutOffGoesOnToTheSameBits) {
  for (const char* kind : {"cut-sgd", "cut-adam"}) {
    const std::string run = copy_of(kind);
    const Outcome outcome = hewn({"train", "--resume", "--quiet", "--out", run});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto got = io::read_safetensors(folder_ / kind / "model.safetensors");
    const auto expected = io::read_safetensors(kOld / (std::string(kind) + "-end.safetensors"));
    // Elsewhere OpenBLAS adds up in another order.
    const bool same_machine = processor() + "\n" == read_file(kOld / "made-on.txt");
    ASSERT_EQ(got.tensors.size(), expected.tensors.size());
    for (const auto& [name, tensor] : expected.tensors) {
      const io::TensorView& other = got.tensors.at(name);
      ASSERT_EQ(other.shape, tensor.shape) << name;
      std::vector<float> a(static_cast<size_t>(tensor.elements()));
      std::vector<float> b(a.size());
      std::memcpy(a.data(), tensor.data.data(), tensor.data.size());
      std::memcpy(b.data(), other.data.data(), other.data.size());
      for (size_t i = 0; i < a.size(); ++i) {
        ASSERT_EQ(a[i] == 0, b[i] == 0) << kind << " " << name << " " << i;
        ASSERT_NEAR(a[i], b[i], same_machine ? 0 : 1e-4) << kind << " " << name << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace hewn::test
