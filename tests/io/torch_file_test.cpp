// Files of PyTorch 1.13 (tests/io/torch/make.py), and what hewn writes for it.
#include "hewn/io/torch_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/io/pickle.h"
#include "hewn/io/zip.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::io {
namespace {

using test::message_of;
using test::TempFolder;

const std::string kFiles = std::string(HEWN_SOURCE_DIR) + "/tests/io/torch/";

template <class T>
std::vector<T> values(const TensorView& view) {
  std::vector<T> out(view.data.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), view.data.data(), view.data.size());
  return out;
}

/// What make.py's counted gives.
template <class T>
std::vector<T> counted(int count) {
  std::vector<T> out;
  for (int i = 0; i < count; ++i) out.push_back(static_cast<T>(i % 7 - 2));
  return out;
}

using Floats = std::vector<float>;
using Shape = std::vector<int64_t>;

TEST(TorchFile, AStateDict) {
  const TorchFile file = read_torch(kFiles + "state_dict.pt");
  EXPECT_EQ(file.note, "");
  ASSERT_EQ(file.tensors.size(), 7U);
  const TensorView& weight = file.tensors.at("fc.weight");
  EXPECT_EQ(weight.type, DType::kF32);
  EXPECT_EQ(weight.shape, (Shape{2, 3}));
  EXPECT_EQ(values<float>(weight), counted<float>(6));
  const TensorView& batches = file.tensors.at("norm.num_batches_tracked");
  EXPECT_EQ(batches.shape, Shape{});
  EXPECT_EQ(values<int64_t>(batches), std::vector<int64_t>{-2});
}

TEST(TorchFile, TypesAndStrides) {
  for (const char* name : {"types.pt", "types_protocol4.pt"}) {
    const TorchFile file = read_torch(kFiles + name);
    const auto at = [&](const char* tensor) { return file.tensors.at(tensor); };
    EXPECT_EQ(values<double>(at("float64")), counted<double>(6));
    EXPECT_EQ(values<float>(at("float32")), counted<float>(6));
    EXPECT_EQ(values<uint16_t>(at("float16")),
              (std::vector<uint16_t>{0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200}));
    EXPECT_EQ(values<uint16_t>(at("bfloat16")),
              (std::vector<uint16_t>{0xc000, 0xbf80, 0, 0x3f80, 0x4000, 0x4040}));
    EXPECT_EQ(values<int64_t>(at("int64")), counted<int64_t>(6));
    EXPECT_EQ(values<int32_t>(at("int32")), counted<int32_t>(6));
    EXPECT_EQ(values<int16_t>(at("int16")), counted<int16_t>(6));
    EXPECT_EQ(values<int8_t>(at("int8")), counted<int8_t>(6));
    EXPECT_EQ(values<uint8_t>(at("uint8")), counted<uint8_t>(6));
    EXPECT_EQ(values<uint8_t>(at("bool")), (std::vector<uint8_t>{1, 1, 0, 1, 1, 1}));
    EXPECT_EQ(at("bool").type, DType::kBool);
    const Floats table = counted<float>(24);
    EXPECT_EQ(values<float>(at("tied")), table);
    EXPECT_EQ(values<float>(at("window")),
              (Floats{table[8], table[9], table[10], table[14], table[15], table[16]}));
    EXPECT_EQ(at("transposed").shape, (Shape{6, 4}));
    EXPECT_EQ(values<float>(at("transposed"))[1], table[6]);
    EXPECT_EQ(values<float>(at("transposed"))[4], table[1]);
    EXPECT_EQ(values<float>(at("channels_last")), table);
    EXPECT_EQ(values<float>(at("expanded")), (Floats{1, 1, 1, 1}));
    EXPECT_EQ(values<float>(at("scalar")), Floats{2.5F});
    EXPECT_EQ(values<float>(at("parameter")), (Floats{1, 1}));
    EXPECT_EQ(at("empty").shape, (Shape{0, 3}));
    EXPECT_TRUE(at("empty").data.empty());
  }
}

TEST(TorchFile, TheStateDictOfACheckpoint) {
  const TorchFile file = read_torch(kFiles + "checkpoint.pt");
  EXPECT_EQ(file.note,
            "took \"state_dict\" of a checkpoint; left out \"epoch\", \"best\", \"loss\", \"done\", "
            "\"optimizer\"; took \"module.\" off all names");
  ASSERT_EQ(file.tensors.size(), 7U);
  EXPECT_EQ(values<float>(file.tensors.at("fc.weight")), counted<float>(6));
}

TEST(TorchFile, OthersAreRefusedByName) {
  const auto problem = [](const std::string& name) {
    return message_of([&] { read_torch(kFiles + name); }).substr(kFiles.size());
  };
  EXPECT_EQ(
      problem("whole_module.pt"),
      "whole_module.pt: is a whole pickled module (\"__main__.Net\"), which only its own code can load; in "
      "Python: torch.save(model.state_dict(), FILE)");
  EXPECT_EQ(problem("torchscript.pt"),
            "torchscript.pt: is a TorchScript archive; in Python: "
            "torch.save(torch.jit.load(FILE).state_dict(), NEW)");
  EXPECT_EQ(problem("legacy.pt"),
            "legacy.pt: was written by PyTorch before 1.6, or in its old form; in Python: "
            "torch.save(torch.load(FILE, weights_only=True), NEW)");
}

TEST(TorchFile, CutOffAnywhereIsAnError) {
  const TempFolder folder;
  const float one = 1;
  write_torch(folder / "w.pt", {{"w", {DType::kF32, {1}, std::as_bytes(std::span(&one, 1))}}});
  const std::string whole = read_file(folder / "w.pt");
  for (size_t size = 0; size < whole.size(); ++size) {
    test::write_text(folder / "w.pt", whole.substr(0, size));
    EXPECT_THROW(read_torch(folder / "w.pt"), FormatError) << size;
  }
}

TEST(TorchFile, SoIsAPickleThatEndsAnywhere) {
  for (const char* name : {"checkpoint.pt", "types_protocol4.pt"}) {
    const std::filesystem::path path = kFiles + name;
    const ZipMember pickle = read_zip_directory(path).front();
    ASSERT_TRUE(pickle.name.ends_with("/data.pkl"));
    std::string whole(pickle.size, '\0');
    open_zip_member(path, pickle)->read(whole.data(), whole.size());
    parse_pickle(whole, "w.pt");
    for (size_t size = 0; size < whole.size(); ++size) {
      EXPECT_THROW(parse_pickle(whole.substr(0, size), "w.pt"), FormatError) << size;
    }
  }
}

TEST(TorchFile, ChecksumsCoverTheBytes) {
  const TempFolder folder;
  std::string bytes = read_file(kFiles + "state_dict.pt");
  const Floats first = counted<float>(6);
  const size_t at = bytes.find(std::string(reinterpret_cast<const char*>(first.data()), 24));
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 1;
  test::write_text(folder / "w.pt", bytes);
  EXPECT_NE(message_of([&] { read_torch(folder / "w.pt"); }).find("state_dict/data/0 is damaged"),
            std::string::npos);
}

class WrittenTorchFile : public testing::Test {
 protected:
  WrittenTorchFile() {
    const auto bytes = std::as_bytes(std::span(floats_));
    tensors_["fc.weight"] = {DType::kF32, {2, 3}, bytes};
    tensors_["fc.bias"] = {DType::kBF16, {3, 1, 2}, bytes.first(12)};
    tensors_["counter"] = {DType::kI64, {}, bytes.first(8)};
    tensors_["none"] = {DType::kF64, {3, 0}, {}};
    tensors_["flags"] = {DType::kBool, {2}, bytes.first(2)};
    write_torch(folder_ / "w.pt", tensors_);
  }

  const Floats floats_ = {0, 1, 2, 3, 4, 5};
  std::map<std::string, TensorView> tensors_;
  TempFolder folder_;
};

TEST_F(WrittenTorchFile, IsReadAsItWas) {
  const TorchFile file = read_torch(folder_ / "w.pt");
  EXPECT_EQ(file.note, "");
  ASSERT_EQ(file.tensors.size(), tensors_.size());
  for (const auto& [name, view] : tensors_) {
    const TensorView& got = file.tensors.at(name);
    EXPECT_EQ(got.type, view.type) << name;
    EXPECT_EQ(got.shape, view.shape) << name;
    EXPECT_EQ(values<char>(got), values<char>(view)) << name;
  }
}

TEST_F(WrittenTorchFile, EqualTensorsMakeEqualFiles) {
  write_torch(folder_ / "other.pth", tensors_);
  const std::string bytes = read_file(folder_ / "w.pt");
  EXPECT_EQ(read_file(folder_ / "other.pth"), bytes);
  // Storages can be mapped into memory.
  const size_t at = bytes.find(std::string(reinterpret_cast<const char*>(floats_.data()), 24));
  EXPECT_EQ(at % 64, 0U);
}

/// Runs Python with the file as its argument; its exit code, 77 where it has no PyTorch.
int run_python(const std::string& code, const std::filesystem::path& file) {
  const std::string text = "import sys\ntry:\n  import torch\nexcept ImportError:\n  sys.exit(77)\n" + code;
  test::write_text(file.parent_path() / "check.py", text);
  const std::string line =
      "/usr/bin/python3 " + (file.parent_path() / "check.py").string() + " " + file.string();
  return WEXITSTATUS(std::system(line.c_str()));
}

TEST_F(WrittenTorchFile, IsWhatTorchLoadReads) {
  const int code = run_python(
      "m = torch.nn.Linear(3, 2)\n"
      "d = torch.load(sys.argv[1], weights_only=True)\n"
      "assert list(d) == ['counter', 'fc.bias', 'fc.weight', 'flags', 'none'], list(d)\n"
      "assert torch.equal(d['fc.weight'], torch.arange(6.).reshape(2, 3))\n"
      "assert d['fc.bias'].shape == (3, 1, 2) and d['fc.bias'].dtype == torch.bfloat16\n"
      "assert d['counter'].shape == () and d['counter'].dtype == torch.int64\n"
      "assert d['none'].shape == (3, 0) and d['none'].dtype == torch.float64\n"
      "assert d['flags'].dtype == torch.bool\n"
      "m.load_state_dict({'weight': d['fc.weight'], 'bias': torch.zeros(2)}, strict=True)\n",
      folder_ / "w.pt");
  if (code == 77) GTEST_SKIP() << "/usr/bin/python3 has no PyTorch (python3-torch)";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace hewn::io
