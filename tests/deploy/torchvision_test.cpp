// A network of PyTorch goes in, is pruned, and goes back.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "hewn/deploy/export.h"
#include "hewn/deploy/finished_run.h"
#include "hewn/run/observer.h"
#include "hewn/tensor/tensor_file.h"
#include "hewn/train/job.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::deploy {
namespace {

/// CIFAR-10's files with a few images in each.
void write_tiny_cifar(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const char* name :
       {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"}) {
    std::string records;
    for (int i = 0; i < 10; ++i) {
      records += static_cast<char>(i);
      for (int p = 0; p < 3072; ++p) records += static_cast<char>((p / 308 == i ? 180 : 20) + p * 7 % 60);
    }
    test::write_text(folder / (std::string(name) + ".bin"), records);
  }
}

int run_script(const std::string& what, const std::filesystem::path& folder) {
  const std::string line =
      "/usr/bin/python3 " HEWN_SOURCE_DIR "/tests/deploy/torchvision.py " + what + " " + folder.string();
  return WEXITSTATUS(std::system(line.c_str()));
}

TEST(SlowTorchvision, ResnetIsPrunedAndComesBackIntoPyTorch) {
  const test::TempFolder folder;
  if (run_script("write", folder.path()) == 77)
    GTEST_SKIP() << "/usr/bin/python3 has no PyTorch (python3-torch)";
  write_tiny_cifar(folder / "data");
  run::Options options;
  options.data = "cifar10:" + (folder / "data").string();
  options.model = "resnet18";
  options.init = (folder / "resnet18.pt").string();
  options.steps = 2;
  options.batch = 10;
  options.lr = 0.01;
  options.prune.method = "magnitude";
  const run::Folder run{folder / "run"};
  run::Observer silent;
  const auto problem = [&] {
    return test::message_of([&] { train::train(options, run, /*resume=*/false, silent); });
  };
  EXPECT_NE(problem().find("--stem imagenet"), std::string::npos);
  options.stem = "imagenet";
  EXPECT_NE(problem().find("--init-skip 'fc.*'"), std::string::npos);
  options.init_skip = "fc.*";
  ASSERT_EQ(problem(), "");

  const FinishedRun finished = FinishedRun::open(run);
  export_run(run, folder / "pruned.pt", io::DType::kF32);
  const at::NoGradGuard no_grad;
  finished.model->eval();
  const at::Tensor x = at::randn({4, 3, 32, 32});
  tensor::save_torch(folder / "outputs.pt", {{"x", x}, {"y", finished.model->forward(x)}});
  EXPECT_EQ(run_script("check", folder.path()), 0);
}

}  // namespace
}  // namespace hewn::deploy
