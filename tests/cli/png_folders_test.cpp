// A folder of classes with PNG files, as people have it, through the program.
#include <gtest/gtest.h>

#include <array>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "hewn/io/npy.h"
#include "tests/support/pngs.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"

namespace hewn::test {
namespace {

TEST(PngFolders, AFolderOfClassesTrainsAndItsPackToTheSameBits) {
  const TempFolder folder;
  for (int label = 0; label < 3; ++label) {
    const auto place = folder / "data" / ("class" + std::to_string(label));
    std::filesystem::create_directories(place);
    for (int i = 0; i < 60; ++i) {
      const auto tint = [&](int c) { return c == label ? 200 + i % 20 : 40 + i; };
      write_text(place / (std::to_string(i) + ".png"), plain_png(14, 12 + i % 3, tint(0), tint(1), tint(2)));
    }
  }
  const auto path = [&](const std::string& name) { return (folder / name).string(); };
  const auto train = [&](const std::string& data, const std::string& run) {
    return hewn({"train",    "--quiet",      "--json",    "--data",   "imagefolder:" + path(data),
                 "--widths", "32,32",        "--block",   "8",        "--image-size",
                 "12",       "--batch",      "8",         "--epochs", "1",
                 "--lr",     "0.05",         "--threads", "2",        "--test-share",
                 "0.25",     "--min-blocks", "4",         "--method", "dense",
                 "--out",    path(run)});
  };
  const Outcome trained = train("data", "files");
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(trained.err, "");
  EXPECT_GT(Json::parse(trained.out)["metrics"]["accuracy"].get<double>(), 50);
  const Outcome evaluated = hewn({"eval", path("files"), "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_EQ(Json::parse(evaluated.out)["metrics"], Json::parse(trained.out)["metrics"]);

  const Outcome packed =
      hewn({"prepare", "--data", "imagefolder:" + path("data"), "--pack", path("all.pack"), "--json"});
  ASSERT_EQ(packed.code, 0) << packed.err;
  ASSERT_EQ(train("all.pack", "packed").code, 0);
  EXPECT_EQ(read_file(folder / "files/model.safetensors"), read_file(folder / "packed/model.safetensors"));
}

TEST(PngFolders, CalibrateAnOnnxNetwork) {
  const TempFolder folder;
  const auto path = [&](const std::string& name) { return (folder / name).string(); };
  // Of one colour each, so that it is known what comes of resizing and cutting.
  io::NpyArray inputs{{6, 3, 12, 12}, std::vector<float>()};
  const std::array<double, 3> mean = {0.485, 0.456, 0.406};
  const std::array<double, 3> deviation = {0.229, 0.224, 0.225};
  for (int i = 0; i < 6; ++i) {
    const auto tint = [&](int c) { return 20 * i + 45 * c; };
    std::filesystem::create_directories(path("images/" + std::to_string(i / 3)));
    write_text(path(str("images/", i / 3, "/", i, ".png")), plain_png(20, 17 + i, tint(0), tint(1), tint(2)));
    for (int c = 0; c < 3; ++c) {
      const auto at = static_cast<size_t>(c);
      const auto scale = static_cast<float>(1 / (255 * deviation[at]));
      const auto shift = static_cast<float>(-mean[at] / deviation[at]);
      std::get<0>(inputs.values)
          .insert(std::get<0>(inputs.values).end(), 144, static_cast<float>(tint(c)) * scale + shift);
    }
  }
  write_text(path("x.npy"), io::npy_bytes(inputs));
  const std::string model = std::string(HEWN_SOURCE_DIR) + "/tests/cli/picture.onnx";
  const auto prune = [&](const std::string& from, const std::string& to,
                         const std::vector<std::string>& more) {
    std::vector<std::string> words = {"prune", model,           "--block",  "2",    "--min-blocks",
                                      "4",     "--calibration", path(from), "--to", path(to)};
    words.insert(words.end(), more.begin(), more.end());
    return hewn(words);
  };
  const Outcome outcome = prune("images", "a.onnx", {});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("calibration: 6 of 6 images, short side resized to 14, middle 12x12"),
            std::string::npos)
      << outcome.out;
  ASSERT_EQ(prune("x.npy", "b.onnx", {}).code, 0);
  EXPECT_EQ(read_file(path("a.onnx")), read_file(path("b.onnx")));
  EXPECT_NE(prune("images", "c.onnx", {"--image-mean", "0,0,0", "--samples", "3"}).out.find("3 of 6 images"),
            std::string::npos);
  EXPECT_NE(read_file(path("a.onnx")), read_file(path("c.onnx")));
  EXPECT_NE(prune("images", "d.onnx", {"--image-size", "9"})
                .err.find("image-size: the network takes images of 12x12"),
            std::string::npos);
  EXPECT_NE(prune("images", "d.onnx", {"--eval-resize", "0"}).err.find("has 20x17 pixels"),
            std::string::npos);
  EXPECT_FALSE(is_there(path("d.onnx")));
}

}  // namespace
}  // namespace hewn::test
