#include "hewn/train/init.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hewn/tensor/state_dict.h"
#include "hewn/tensor/tensor_file.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::train {
namespace {

class Init : public testing::Test {
 protected:
  std::shared_ptr<nn::Model> model(uint64_t seed) const {
    at::manual_seed(seed);
    return nn::find_model("resnet20").make({{3, 32, 32}, 10}, {});
  }
  std::filesystem::path write(const std::map<std::string, at::Tensor>& tensors) const {
    tensor::save_tensors(folder_ / "w.safetensors", {{}, tensors}, false);
    return folder_ / "w.safetensors";
  }
  std::string problem(const std::map<std::string, at::Tensor>& tensors, const std::string& skip = "") const {
    const auto path = write(tensors);
    return test::message_of([&] { load_weights(*model(2), path, skip); });
  }

  test::TempFolder folder_;
};

TEST_F(Init, TakesHalfPrecisionAndThePrefixOfParallelTraining) {
  std::map<std::string, at::Tensor> tensors;
  for (const auto& [name, tensor] : tensor::state_dict(*model(1))) {
    // Files of older programs lack the counters.
    if (!name.ends_with("num_batches_tracked")) tensors["module." + name] = tensor.detach().to(at::kBFloat16);
  }
  const auto other = model(2);
  load_weights(*other, write(tensors), "");
  for (const auto& [name, tensor] : tensor::state_dict(*other)) {
    if (name.ends_with("num_batches_tracked")) continue;
    EXPECT_TRUE(at::equal(tensor, tensors.at("module." + name).to(at::kFloat))) << name;
  }
}

TEST_F(Init, TakesStateDictsOfPyTorch) {
  const auto tensors = tensor::state_dict(*model(1));
  tensor::save_torch(folder_ / "w.pt", tensors);
  const auto other = model(2);
  EXPECT_EQ(load_weights(*other, folder_ / "w.pt", "").note, "");
  for (const auto& [name, tensor] : tensor::state_dict(*other)) {
    EXPECT_TRUE(at::equal(tensor, tensors.at(name))) << name;
  }
  const std::string checkpoint = HEWN_SOURCE_DIR "/tests/io/torch/checkpoint.pt";
  EXPECT_NE(test::message_of([&] { load_weights(*other, checkpoint, ""); }).find("\"fc.bias\" is not part"),
            std::string::npos);
  EXPECT_NE(load_weights(*other, checkpoint, "*").note.find("took \"state_dict\" of a checkpoint"),
            std::string::npos);
  const std::string module = HEWN_SOURCE_DIR "/tests/io/torch/whole_module.pt";
  EXPECT_NE(test::message_of([&] { load_weights(*other, module, ""); }).find("torch.save(model.state_dict()"),
            std::string::npos);
}

TEST_F(Init, NamesWhatIsNotFinite) {
  auto tensors = tensor::state_dict(*model(1));
  tensors["linear.weight"] = at::full_like(tensors["linear.weight"], std::nan(""));
  EXPECT_NE(problem(tensors).find("\"linear.weight\" holds values that are not finite"), std::string::npos);
  EXPECT_EQ(problem(tensors, "linear.*"), "");  // it is not taken
  tensors["linear.weight"] = at::ones(tensors["linear.weight"].sizes(), at::kLong);
  EXPECT_NE(problem(tensors).find("is of type Long"), std::string::npos);
  EXPECT_EQ(tensor::not_finite({{"a", at::full({2}, 3e38)}, {"b", at::ones({1}, at::kLong)}}), "");
  EXPECT_EQ(tensor::not_finite({{"a", at::ones({2})}, {"b", at::full({1}, INFINITY)}}), "b");
}

TEST_F(Init, NamesWhatDoesNotFit) {
  auto tensors = tensor::state_dict(*model(1));
  tensors["linear.weight"] = at::zeros({100, 64});
  EXPECT_NE(problem(tensors).find("linear.weight"), std::string::npos);
  EXPECT_EQ(problem(tensors, "linear.*"), "");
  tensors = tensor::state_dict(*model(1));
  tensors.erase("layer2.0.conv1.weight");
  EXPECT_NE(problem(tensors).find("layer2.0.conv1.weight"), std::string::npos);
  tensors = tensor::state_dict(*model(1));
  tensors["head.weight"] = at::zeros({3});
  EXPECT_NE(problem(tensors).find("init-skip"), std::string::npos);
  EXPECT_EQ(problem(tensors, "head.*"), "");
}

TEST_F(Init, AdvisesOnStemsAndClasses) {
  const nn::ModelRow& row = nn::find_model("resnet18");
  const auto photos = row.make({{3, 224, 224}, 20}, {.width = 8});
  const auto path = write(tensor::state_dict(*photos));
  const auto problem = [&](const nn::Signature& signature, const nn::ModelOptions& options) {
    return test::message_of([&] { load_weights(*row.make(signature, options), path, ""); });
  };
  EXPECT_NE(
      problem({{3, 32, 32}, 20}, {.width = 8})
          .find("\"conv1.weight\" has shape [8, 3, 7, 7], the model needs [8, 3, 3, 3]; the first layer is "
                "for larger images: give --stem imagenet, or --image-size"),
      std::string::npos);
  EXPECT_NE(problem({{3, 224, 224}, 20}, {.width = 8, .small_stem = true}).find("--stem imagenet"),
            std::string::npos);
  EXPECT_EQ(problem({{3, 32, 32}, 20}, {.width = 8, .small_stem = false}), "");
  EXPECT_NE(problem({{3, 224, 224}, 10}, {.width = 8}).find("--init-skip 'fc.*'"), std::string::npos);
  EXPECT_EQ(problem({{3, 224, 224}, 20}, {.width = 16}).find("--init-skip"), std::string::npos);
  const auto small = row.make({{3, 32, 32}, 20}, {.width = 8});
  const auto small_path = write(tensor::state_dict(*small));
  EXPECT_NE(test::message_of([&] { load_weights(*photos, small_path, ""); }).find("--stem small"),
            std::string::npos);
  const at::NoGradGuard no_grad;
  EXPECT_EQ(row.make({{3, 32, 32}, 20}, {.width = 8, .small_stem = false})
                ->forward(at::zeros({2, 3, 32, 32}))
                .size(1),
            20);
}

TEST_F(Init, SkippedTensorsKeepTheirValues) {
  const auto tensors = tensor::state_dict(*model(1));
  const auto other = model(2);
  const at::Tensor before = tensor::state_dict(*other).at("linear.weight").detach().clone();
  load_weights(*other, write(tensors), "linear.*");
  EXPECT_TRUE(at::equal(tensor::state_dict(*other).at("linear.weight"), before));
  EXPECT_TRUE(at::equal(tensor::state_dict(*other).at("conv1.weight"), tensors.at("conv1.weight")));
}

}  // namespace
}  // namespace hewn::train
