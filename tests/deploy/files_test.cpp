// What goes in and out of a model as files: samples, predictions, exports, and what a file says of itself.
// Uses what hewn 0.1 wrote (tests/old) and a click model (tests/runtime/old).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hewn/core/files.h"
#include "hewn/deploy/inspect_file.h"
#include "hewn/deploy/predictions_file.h"
#include "hewn/deploy/samples.h"
#include "hewn/io/npz.h"
#include "hewn/tensor/tensor_file.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::deploy {
namespace {

using test::message_of;
using test::TempFolder;
using test::write_text;

const std::string kOld = HEWN_SOURCE_DIR "/tests/old/";

class ModelFiles : public testing::Test {
 protected:
  ModelFiles() : model_(open_model(kOld + "model.hewn", 1)), pixels_(2 * 784) {
    for (size_t i = 0; i < pixels_.size(); ++i) pixels_[i] = static_cast<float>(i % 97) / 97.0F;
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Samples read(const std::string& argument) const {
    Samples out;
    add_samples(argument, model_, out);
    return out;
  }
  std::string complaint(const std::string& name, const std::string& bytes) const {
    write_text(folder_ / name, bytes);
    return message_of([&] { read(path(name)); });
  }
  std::string csv(const std::string& last) const {
    std::string text;
    for (size_t i = 0; i < pixels_.size(); ++i) {
      text += i + 1 < pixels_.size() ? std::to_string(pixels_[i]) + (i == 783 ? "\n" : ",") : last;
    }
    return text + "\n";
  }

  TempFolder folder_;
  OpenModel model_;
  std::vector<float> pixels_;
};

TEST_F(ModelFiles, SamplesOfAnyShapeAndFormat) {
  const std::string flat = io::npy_bytes(2, 784, pixels_.data());
  write_text(folder_ / "a.npy", flat);
  EXPECT_EQ(read(path("a.npy")).count, 2);
  EXPECT_EQ(read("input=" + path("a.npy")).values, pixels_);
  std::string images = flat;
  images.replace(images.find("(2, 784), }      "), 17, "(2,1,28,28), }   ");
  write_text(folder_ / "a.csv", images);  // names say nothing
  EXPECT_EQ(read(path("a.csv")).values, pixels_);
  io::write_npz(folder_ / "a.npz", {{"other", flat}, {"input", images}});
  EXPECT_EQ(read(path("a.npz")).values, pixels_);
  write_text(folder_ / "one.npy", io::npy_bytes(28, 28, pixels_.data()));
  Samples samples = read(path("one.npy"));
  EXPECT_EQ(samples.values, std::vector<float>(pixels_.begin(), pixels_.begin() + 784));
  add_samples(csv("0.5"), "text", model_, samples);
  EXPECT_EQ(samples.count, 3);
  EXPECT_NEAR(samples.values[784 + 5], pixels_[5], 1e-6);
  EXPECT_EQ(samples.values.back(), 0.5F);
}

TEST_F(ModelFiles, SamplesThatDoNotFitAreNamed) {
  EXPECT_EQ(complaint("n.csv", "1,2\n"),
            path("n.csv") + ": has 1 rows of 2 numbers; the model takes 784 (1x28x28) a sample");
  EXPECT_EQ(complaint("n.csv", csv("nan")), path("n.csv") + ": line 2, column 784: has no number");
  EXPECT_EQ(complaint("n.csv", csv("dog")),
            path("n.csv") + ": line 2, column \"column 784\": expected a number, got \"dog\"");
  EXPECT_NE(complaint("n.csv", csv("1e39")).find("row 2, column 784: does not fit into 32 bits"),
            std::string::npos);
  pixels_[7] = std::numeric_limits<float>::infinity();
  EXPECT_NE(
      complaint("n.npy", io::npy_bytes(2, 784, pixels_.data())).find("row 1, column 8: expected a number"),
      std::string::npos);
  EXPECT_EQ(complaint("n.npy", io::npy_bytes(0, 784, nullptr)), path("n.npy") + ": holds no samples");
  EXPECT_NE(complaint("photo.csv", "\xff\xd8\xff\xe0")
                .find("is an image file; this model file does not say how images become inputs, "
                      "give data as imagefolder:PATH"),
            std::string::npos);
  EXPECT_NE(
      message_of([&] { read(folder_.path().string()); }).find("is a folder; this model file does not say"),
      std::string::npos);
  EXPECT_EQ(message_of([&] { read(kOld + "finished"); }),
            kOld + "finished: is a run folder; inputs are .npy, .npz or .csv files, or - for standard input");
  EXPECT_EQ(message_of([&] { read("pixels=x.npy"); }),
            "pixels=x.npy: the model has no input \"pixels\"; it has: input");
  EXPECT_EQ(message_of([&] { read(path("absent.npy")); }), path("absent.npy") + ": no such file or folder");
}

TEST_F(ModelFiles, ClickValuesStayInsideTheirVocabularies) {
  const OpenModel clicks = open_model(HEWN_SOURCE_DIR "/tests/runtime/old/clicks.hewn", 1);
  const std::vector<int64_t> vocabularies = clicks.vocabularies();
  const auto complaint = [&](int64_t last, const std::string& behind) {
    std::string row;
    for (size_t i = 0; i + 1 < vocabularies.size(); ++i) row += "0,";
    Samples samples;
    return message_of([&] { add_samples(row + str(last) + behind + "\n", "log", clicks, samples); });
  };
  const int64_t most = vocabularies.back() - 1;
  const std::string place =
      str("log: row 1, column ", vocabularies.size(), ": expected a whole number from 0 to ", most);
  EXPECT_EQ(complaint(most, ""), "");
  EXPECT_EQ(complaint(most + 1, ""), str(place, ", got ", most + 1));
  EXPECT_EQ(complaint(-1, ""), place + ", got -1");
  EXPECT_EQ(complaint(0, ".5"), place + ", got 0.5");
}

TEST_F(ModelFiles, PredictionsAreWrittenByTheirSuffix) {
  const Predictions got = predict(model_, {2, pixels_}, 1, 0);
  write_predictions(folder_ / "p.npy", got);
  write_predictions(folder_ / "p.npz", got);
  write_predictions(folder_ / "p.json", got);
  const io::NpyMatrix array = io::read_npy(folder_ / "p.npy");
  EXPECT_EQ(array.rows, 2);
  EXPECT_EQ(array.cols, 10);
  EXPECT_EQ(io::read_npz(folder_ / "p.npz", "output").values, array.values);
  const Json json = Json::parse(read_file(folder_ / "p.json"));
  EXPECT_EQ(json["class"][1], got.class_of(1));
  EXPECT_EQ(json["output"][1][3].get<float>(), got.logits[13]);
  EXPECT_EQ(predict(model_, {2, pixels_}, 256, 1).samples, 1);
  EXPECT_EQ(message_of([&] { check_predictions_file("p.txt"); }),
            "out: expected a file that ends in .csv, .npy, .npz, .json, got p.txt");
  // One output that is a number has no class.
  Predictions number;
  number.samples = number.outputs = 1;
  number.logits = {2.5F};
  write_predictions(folder_ / "p.csv", number);
  EXPECT_EQ(read_file(folder_ / "p.csv"), "sample,output\n0,2.5\n");
  EXPECT_FALSE(to_json(number).contains("class"));
}

TEST_F(ModelFiles, ARunIsAModelToo) {
  OpenModel run = open_model(kOld + "finished", 1);
  const Predictions expected = predict(model_, {2, pixels_}, 2, 0);
  const Predictions got = predict(run, {2, pixels_}, 2, 0);
  ASSERT_EQ(got.logits.size(), expected.logits.size());
  for (size_t i = 0; i < got.logits.size(); ++i) EXPECT_NEAR(got.logits[i], expected.logits[i], 1e-5);
}

TEST_F(ModelFiles, ExportsByTheirSuffix) {
  const auto complaint = [&](const std::string& name, io::DType type) {
    return message_of([&] { export_run({kOld + "finished"}, folder_ / name, type); });
  };
  EXPECT_NE(complaint("m.onnx", io::DType::kBF16).find("dtype: applies to .hewn"), std::string::npos);
#if !HEWN_ONNX
  EXPECT_NE(complaint("m.onnx", io::DType::kF32).find("install libonnx-dev"), std::string::npos);
#endif
  EXPECT_NE(complaint("m.pt", io::DType::kBF16).find("dtype: applies to .hewn"), std::string::npos);
  EXPECT_NE(
      complaint("m.txt", io::DType::kF32).find("expected a file that ends in .hewn, .onnx, .safetensors"),
      std::string::npos);
  EXPECT_NE(complaint("m.safetensors", io::DType::kBF16).find("dtype: applies to .hewn"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  export_run({kOld + "finished"}, folder_ / "m.safetensors", io::DType::kF32);
  EXPECT_EQ(read_file(folder_ / "m.safetensors"), read_file(kOld + "finished/model.safetensors"));
}

TEST_F(ModelFiles, AStateDictOfPyTorchHoldsTheSameTensors) {
  export_run({kOld + "finished"}, folder_ / "m.pt", io::DType::kF32);
  export_run({kOld + "finished"}, folder_ / "m.pth", io::DType::kF32);
  EXPECT_EQ(read_file(folder_ / "m.pt"), read_file(folder_ / "m.pth"));
  const auto expected = tensor::load_weights(kOld + "finished/model.safetensors").tensors;
  const auto got = tensor::load_weights(folder_ / "m.pt").tensors;
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [name, tensor] : expected) EXPECT_TRUE(at::equal(got.at(name), tensor)) << name;
  const Json report = to_json(inspect_file(folder_ / "m.pt"), "m");
  EXPECT_EQ(report["kind"], "weights");
  EXPECT_EQ(report["layers"].size(), to_json(inspect_file(kOld + "model.hewn"), "m")["layers"].size());
  EXPECT_FALSE(report.contains("note"));
}

TEST_F(ModelFiles, FilesSayWhatTheyKeep) {
  const Json model = to_json(inspect_file(kOld + "model.hewn"), "m");
  EXPECT_EQ(model["kind"], "model");
  EXPECT_EQ(model["input"], Json({1, 28, 28}));
  EXPECT_EQ(model["outputs"], 10);
  EXPECT_TRUE(model["classes"].empty());
  EXPECT_EQ(model["layers"][0]["kept"], 78);
  const Json weights = to_json(inspect_file(kOld + "finished/model.safetensors"), "w");
  EXPECT_EQ(weights["kind"], "weights");
  EXPECT_EQ(weights["layers"][0]["name"], "fc1");
  EXPECT_EQ(weights["layers"][0]["kept"], 78);
  EXPECT_EQ(weights["layers"][0]["bytes"], 784 * 8 * 4);
  EXPECT_FALSE(weights["layers"][1]["pruned"].get<bool>());
  // A bf16 file is counted as it is.
  export_run({kOld + "finished"}, folder_ / "h.hewn", io::DType::kBF16);
  EXPECT_LT(inspect_file(folder_ / "h.hewn").content.layers[0].bytes,
            model["layers"][0]["bytes"].get<int64_t>());
}

}  // namespace
}  // namespace hewn::deploy
