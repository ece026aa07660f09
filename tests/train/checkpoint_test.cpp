#include "hewn/train/checkpoint.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "tests/support/temp_folder.h"

namespace hewn::train {
namespace {

Checkpoint sample(int64_t step) {
  return {
      step, {{"step", step}, {"pi", 3.141592653589793}}, {{"w", at::full({3}, static_cast<double>(step))}}};
}

TEST(Checkpoints, KeepsTheLastOnesAndLoadsTheNewest) {
  const test::TempFolder folder;
  CheckpointStore store(folder.path(), 2);
  for (const int64_t step : {5, 10, 100}) store.save(sample(step));
  EXPECT_FALSE(std::filesystem::exists(folder / "step-5.safetensors"));
  std::vector<std::string> skipped;
  const auto newest = store.load_newest(&skipped);
  ASSERT_TRUE(newest.has_value());
  EXPECT_EQ(newest->step, 100);
  EXPECT_EQ(newest->state["pi"].get<double>(), 3.141592653589793);
  EXPECT_TRUE(at::equal(newest->tensors.at("w"), at::full({3}, 100.0)));
  EXPECT_TRUE(skipped.empty());
}

TEST(Checkpoints, SkipsADamagedOneAndSaysSo) {
  for (const bool truncate : {false, true}) {
    const test::TempFolder folder;
    CheckpointStore store(folder.path(), 3);
    store.save(sample(1));
    store.save(sample(2));
    const auto path = folder / "step-2.safetensors";
    std::string bytes = read_file(path);
    if (truncate) {
      bytes.resize(bytes.size() / 2);
    } else {
      bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x10);
    }
    test::write_text(path, bytes);
    std::vector<std::string> skipped;
    const auto newest = store.load_newest(&skipped);
    ASSERT_TRUE(newest.has_value());
    EXPECT_EQ(newest->step, 1);
    ASSERT_EQ(skipped.size(), 1U);
    EXPECT_NE(skipped[0].find("step-2.safetensors"), std::string::npos);
  }
}

TEST(Checkpoints, NothingThereIsNoError) {
  const test::TempFolder folder;
  std::vector<std::string> skipped;
  test::write_text(folder / "step-x.safetensors", "");
  test::write_text(folder / "step-7.safetensors.tmp", "half a file");
  EXPECT_FALSE(CheckpointStore(folder.path(), 1).load_newest(&skipped).has_value());
  EXPECT_TRUE(skipped.empty());
}

TEST(TensorFiles, NameWhatDoesNotFit) {
  const tensor::TensorFile file{{}, {{"w", at::zeros({2})}}};
  EXPECT_THROW(tensor::copy_into({{"v", at::zeros({2})}}, file, "", "here"), FormatError);
  EXPECT_THROW(tensor::copy_into({{"w", at::zeros({3})}}, file, "", "here"), FormatError);
}

}  // namespace
}  // namespace hewn::train
