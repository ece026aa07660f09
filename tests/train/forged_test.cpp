// Checkpoints that are sealed and well-formed, and still not what a run can go on from.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "hewn/run/config.h"
#include "hewn/run/stopped.h"
#include "hewn/tensor/tensor_file.h"
#include "hewn/train/job.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::train {
namespace {

class StopAtStep final : public run::Observer {
 public:
  explicit StopAtStep(int64_t step) : last_(step) {}
  void on_step(int64_t step, prune::Phase) override { step_ = step; }
  bool stop_requested() const override { return step_ >= last_; }

 private:
  int64_t last_;
  int64_t step_ = 0;
};

class Forged : public testing::Test {
 protected:
  void SetUp() override {
    test::write_tiny_mnist(folder_ / "data", 200, 100);
    run::Options options;
    options.data = "mnist:" + (folder_ / "data").string();
    options.widths = {32, 32};
    options.prune.block = {4, 4};
    options.epochs = 4;
    options.batch = 20;
    options.threads = 1;
    options.log_every = 7;
    StopAtStep stop(36);  // of 40: in the last phase, which is sparse
    EXPECT_THROW(train(options, run_, /*resume=*/false, stop), run::Stopped);
    whole_ = tensor::load_tensors(file(), /*sealed=*/true);
  }

  std::filesystem::path file() const { return run_.checkpoints() / "step-36.safetensors"; }
  /// What is said where the run goes on from a changed checkpoint.
  std::string said(const std::function<void(tensor::TensorFile&, Json& state)>& change) {
    tensor::TensorFile forged = whole_;
    for (auto& [name, tensor] : forged.tensors) tensor = tensor.clone();
    Json state = Json::parse(forged.metadata["hewn.state"]);
    change(forged, state);
    forged.metadata["hewn.state"] = state.dump();
    tensor::save_tensors(file(), forged, /*sealed=*/true);
    run::Observer silent;
    return test::message_of([&] { train(run::resumed_options(run_, {}), run_, /*resume=*/true, silent); });
  }
  void expect(const std::string& words, const std::function<void(tensor::TensorFile&, Json& state)>& change) {
    const std::string text = said(change);
    EXPECT_NE(text.find(words), std::string::npos) << "expected: " << words << "\ngot: " << text;
  }

  test::TempFolder folder_;
  run::Folder run_{folder_ / "run"};
  tensor::TensorFile whole_;
};

TEST_F(Forged, StatesAreRefused) {
  for (const char* key : {"step", "pending", "first_loss", "seconds", "phase_index", "optimiser_steps"}) {
    expect(str("\"", key, "\" is missing"), [&](auto&, Json& state) { state.erase(key); });
    expect(str("\"", key, "\" is of another kind"), [&](auto&, Json& state) { state[key] = "x"; });
  }
  expect("\"step\" is 100000, out of range", [](auto&, Json& state) { state["step"] = 100000; });
  expect("another one than the file's name", [](auto&, Json& state) { state["step"] = 3; });
  expect("\"phase_index\" is 99, out of range", [](auto&, Json& state) { state["phase_index"] = 99; });
  expect("its phase is another one", [](auto&, Json& state) { state["phase_index"] = 0; });
}

TEST_F(Forged, TensorsAreRefused) {
  const auto support = "pruner.support.fc1";
  const auto logits = "pruner.score.fc1.logits";
  ASSERT_TRUE(whole_.tensors.contains(support));
  ASSERT_TRUE(whole_.tensors.contains(logits));
  expect("expected a flag for each",
         [&](auto& file, Json&) { file.tensors[support] = at::ones({7}, at::kByte); });
  expect("expected a flag for each",
         [&](auto& file, Json&) { file.tensors[support] = file.tensors[support].to(at::kFloat); });
  expect("expected a flag for each", [&](auto& file, Json&) { file.tensors[support].fill_(200); });
  expect("without the support of layer fc1", [&](auto& file, Json&) { file.tensors.erase(support); });
  expect("has another shape or type", [&](auto& file, Json&) { file.tensors[logits] = at::zeros({1}); });
  expect("it holds no score.fc1.logits", [&](auto& file, Json&) { file.tensors.erase(logits); });
  expect("not finite", [&](auto& file, Json&) { file.tensors[logits].fill_(std::nan("")); });
  expect("not finite", [](auto& file, Json&) { file.tensors["model.fc1.weight"][0][0] = INFINITY; });
  expect("is of type", [](auto& file, Json&) {
    file.tensors["model.fc1.weight"] = file.tensors["model.fc1.weight"].to(at::kDouble);
  });
  expect("has shape", [](auto& file, Json&) { file.tensors["loop.losses"] = at::zeros({1}); });
  EXPECT_EQ(said([](auto&, Json&) {}), "");  // what was not changed goes on
}

}  // namespace
}  // namespace hewn::train
