// A folder of classes with PNG files, as people have it, through the program.
#include <gtest/gtest.h>

#include "hewn/core/files.h"
#include "hewn/core/json.h"
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

}  // namespace
}  // namespace hewn::test
