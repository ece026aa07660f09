// A path is what its content says, under any name; hostile content gets an answer too.
#include "hewn/io/source_kind.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hewn/core/files.h"
#include "hewn/io/npy.h"
#include "hewn/io/npz.h"
#include "hewn/io/safetensors.h"
#include "hewn/io/zip.h"
#include "tests/support/temp_folder.h"

namespace hewn::io {
namespace {

using test::TempFolder;
using test::write_text;

const std::string kOnnx = std::string("\x08\x08\x12\x07pytorch\x1a\x03", 13) + "2.0" +
                          std::string("\x3a\x04grap\x42\x02\x10\x11", 10);

SourceKind kind_of_bytes(const std::string& bytes) {
  const TempFolder folder;
  write_text(folder / "file", bytes);
  return kind_of(folder / "file");
}

std::string safetensors(const std::string& header) {
  std::string out(8, '\0');
  out[0] = static_cast<char>(header.size());
  return out + header;
}

TEST(SourceKind, Files) {
  EXPECT_EQ(kind_of_bytes(safetensors(R"({"__metadata__":{"hewn.format":"2"}})")), SourceKind::kModel);
  EXPECT_EQ(kind_of_bytes(safetensors(R"({"a":{"__metadata__":{"hewn.format":"2"}}})")),
            SourceKind::kWeights);
  EXPECT_EQ(kind_of_bytes(safetensors(R"({"__metadata__":{"format":"pt"}})")), SourceKind::kWeights);
  EXPECT_EQ(kind_of_bytes(safetensors("{}")), SourceKind::kWeights);
  EXPECT_EQ(kind_of_bytes(kOnnx), SourceKind::kOnnx);
  EXPECT_EQ(kind_of_bytes("\x80\x02\x8a\nl\xfc\x9c"), SourceKind::kTorch);
  EXPECT_EQ(kind_of_bytes(" {\"hewn\": \"select\", \"layer\": {\"hewn\": 1}}"), SourceKind::kSelector);
  EXPECT_EQ(kind_of_bytes("{\"hewn\": \"1.0\"}"), SourceKind::kUnknown);
  EXPECT_EQ(kind_of_bytes(npy_bytes(0, 3, nullptr)), SourceKind::kNpy);
  EXPECT_EQ(kind_of_bytes("\xff\xd8\xff\xe0..."), SourceKind::kImage);
  EXPECT_EQ(kind_of_bytes("1,2\n3,4\n"), SourceKind::kUnknown);
  EXPECT_EQ(kind_of_bytes(""), SourceKind::kUnknown);
  const TempFolder folder;
  write_npz(folder / "a.pt", {{"output", npy_bytes(0, 3, nullptr)}});
  EXPECT_EQ(kind_of(folder / "a.pt"), SourceKind::kNpz);
  write_zip(folder / "a.npz", {{"archive/version", "3"}, {"archive/data.pkl", "x"}});
  EXPECT_EQ(kind_of(folder / "a.npz"), SourceKind::kTorch);
}

TEST(SourceKind, Folders) {
  const TempFolder folder;
  EXPECT_EQ(kind_of(folder.path()), SourceKind::kFolder);
  write_text(folder / "sweep.json", "");
  EXPECT_EQ(kind_of(folder.path()), SourceKind::kSweep);
  write_text(folder / "config.json", R"({"model_type": "bert", "x": {"options": {}}})");
  EXPECT_EQ(kind_of(folder.path()), SourceKind::kSweep);
  write_text(folder / "config.json", R"({"hewn": "0.1", "options": {"block": "8x8"}})");
  EXPECT_EQ(kind_of(folder.path()), SourceKind::kRun);
}

TEST(SourceKind, PipesAndDevicesAreNotRead) {
  const TempFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(kind_of(folder / "pipe"), SourceKind::kSpecial);
  EXPECT_EQ(kind_of("/dev/zero"), SourceKind::kSpecial);
  ASSERT_EQ(mkfifo((folder / "config.json").c_str(), 0600), 0);
  EXPECT_EQ(kind_of(folder.path()), SourceKind::kFolder);
  EXPECT_EQ(kind_of(folder / "absent"), SourceKind::kMissing);
  EXPECT_EQ(kind_of(""), SourceKind::kMissing);
  std::filesystem::create_symlink("loop", folder / "loop");
  EXPECT_EQ(kind_of(folder / "loop"), SourceKind::kUnreadable);
}

TEST(SourceKind, HostileFilesGetAnAnswer) {
  const std::string model = safetensors(R"({"__metadata__":{"hewn.format":"2"}})");
  EXPECT_EQ(kind_of_bytes(model.substr(0, model.size() - 1)), SourceKind::kDamaged);
  std::string longer = model;
  longer[3] = 1;
  EXPECT_EQ(kind_of_bytes(longer), SourceKind::kDamaged);
  EXPECT_EQ(kind_of_bytes(safetensors("{\"__metadata__\":[[[[[[[[[[")), SourceKind::kDamaged);
  EXPECT_EQ(kind_of_bytes(safetensors("{\"__metadata__\":[[[1]]]}")), SourceKind::kWeights);
  EXPECT_EQ(kind_of_bytes("{\"hewn\":" + std::string(1 << 20, '[')), SourceKind::kUnknown);
  const TempFolder folder;
  write_zip(folder / "a.npz", {{"archive/version", "3"}, {"archive/data.pkl", "x"}});
  // Every beginning of every kind, and every byte turned.
  for (const std::string& whole : {model, kOnnx, read_file(folder / "a.npz"), npy_bytes(0, 1, nullptr)}) {
    for (size_t i = 0; i < whole.size(); ++i) {
      kind_of_bytes(whole.substr(0, i));
      std::string turned = whole;
      turned[i] = static_cast<char>(~turned[i]);
      EXPECT_FALSE(name_of(kind_of_bytes(turned)).empty());
    }
  }
}

}  // namespace
}  // namespace hewn::io
