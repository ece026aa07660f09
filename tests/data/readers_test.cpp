#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/data/idx.h"
#include "hewn/data/source.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::data {
namespace {

using test::message_of;
using test::TempFolder;
using test::write_text;

TEST(Idx, ReadsAndRejects) {
  const TempFolder folder;
  const std::string good = std::string("\0\0\x08\x01\0\0\0\x03", 8) + "abc";
  write_text(folder / "a", good);
  EXPECT_EQ(read_idx(folder / "a", 1).bytes, "abc");
  for (const std::string& bad : {good.substr(0, 9), good.substr(0, 5), std::string(), good + "d",
                                 std::string("\0\0\x0d\x01\0\0\0\x03", 8) + "abc",
                                 std::string("\0\0\x08\x01\xff\xff\xff\xff", 8) + "abc"}) {
    write_text(folder / "a", bad);
    EXPECT_NE(message_of([&] { read_idx(folder / "a", 1); }).find((folder / "a").string()),
              std::string::npos);
  }
}

TEST(Cifar10, ReadsRecordsAndNamesATruncatedFile) {
  const TempFolder folder;
  const auto record = [](char label, char pixel) { return std::string(1, label) + std::string(3072, pixel); };
  for (int i = 1; i <= 5; ++i) {
    write_text(folder / ("data_batch_" + std::to_string(i) + ".bin"),
               record(static_cast<char>(i), 'x') + record(9, 'y'));
  }
  write_text(folder / "test_batch.bin", record(3, 'z'));
  const std::string spec = "cifar10:" + folder.path().string();
  const auto source = open_source(spec, {});
  EXPECT_EQ(source->info().train_size, 10);
  EXPECT_EQ(source->test_batch(0).target.item<int64_t>(), 3);
  write_text(folder / "data_batch_4.bin", record(1, 'x').substr(0, 100));
  EXPECT_NE(message_of([&] { open_source(spec, {}); }).find("data_batch_4.bin"), std::string::npos);
  write_text(folder / "data_batch_4.bin", record(77, 'x'));
  EXPECT_NE(message_of([&] { open_source(spec, {}); }).find("data_batch_4.bin"), std::string::npos);
  std::filesystem::remove(folder / "data_batch_2.bin");
  EXPECT_NE(message_of([&] { open_source(spec, {}); }).find("data_batch_2.bin"), std::string::npos);
}

TEST(Cifar100, TheFineLabelIsTheClass) {
  const TempFolder folder;
  const auto record = [](char coarse, char fine, char pixel) {
    return std::string{coarse, fine} + std::string(3072, pixel);
  };
  write_text(folder / "train.bin", record(19, 99, 'x') + record(0, 20, 'y') + record(7, 0, 'z'));
  write_text(folder / "test.bin", record(4, 42, 'a') + record(3, 99, 'b'));
  const std::string spec = "cifar100:" + folder.path().string();
  const auto source = open_source(spec, {});
  EXPECT_EQ(source->info().name, "cifar100");
  EXPECT_EQ(source->info().classes, 100);
  EXPECT_EQ(source->info().train_size, 3);
  const Batch test = source->test_batch(0);
  EXPECT_TRUE(at::equal(test.target, at::tensor({42, 99}, at::kLong)));
  EXPECT_NEAR(test.input[1][2][31][31].item<double>(), ('b' / 255.0 - 0.406) / 0.225, 1e-5);
  EXPECT_EQ(test.input[0].min().item<float>(), test.input[0][0].min().item<float>());

  std::filesystem::create_directories(folder / "above/cifar-100-binary");
  for (const char* name : {"train.bin", "test.bin"})
    std::filesystem::copy(folder / name, folder / "above/cifar-100-binary" / name);
  EXPECT_EQ(open_source("cifar100:" + (folder / "above").string(), {})->info().test_size, 2);
  for (const std::string& bad :
       {record(20, 1, 'x'), record(1, 100, 'x'), record(1, 1, 'x') + "a", std::string()}) {
    write_text(folder / "test.bin", bad);
    EXPECT_NE(message_of([&] { open_source(spec, {}); }).find("test.bin"), std::string::npos);
  }
  EXPECT_NE(message_of([] { open_source("cifar100", {}); }).find("cifar100:FOLDER"), std::string::npos);
}

TEST(Sources, UnknownNamesAreRejectedWithTheKnownOnes) {
  EXPECT_NE(message_of([] { open_source("imagenet", {}); }).find("cifar10"), std::string::npos);
  EXPECT_NE(message_of([] { open_source("mnist", {}); }).find("mnist:FOLDER"), std::string::npos);
}

TEST(Sources, RealFashionMnistWhereInstalled) {
  if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist"))
    GTEST_SKIP() << "dataset-fashion-mnist is absent";
  const auto source = open_source("fashion-mnist", {});
  EXPECT_EQ(source->info().train_size, 60000);
  EXPECT_EQ(source->info().test_size, 10000);
  double sum = 0;
  for (int64_t i = 0; i < source->test_batches(); ++i)
    sum += source->test_batch(i).input.sum().item<double>();
  EXPECT_NEAR(sum / (10000.0 * 784), 0, 0.01);  // the test set is centred by the training set's mean
}

}  // namespace
}  // namespace hewn::data
