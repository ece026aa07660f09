#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cstring>
#include <filesystem>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/data/images.h"

namespace hewn::data {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kPixels = int64_t{3} * 32 * 32;
constexpr int64_t kRecord = 1 + kPixels;  // a label, then red, green and blue planes

ImageSet load(const fs::path& folder, const std::vector<std::string>& names) {
  std::vector<std::string> files;
  int64_t count = 0;
  for (const std::string& name : names) {
    files.push_back(read_file(folder / name));
    const auto size = static_cast<int64_t>(files.back().size());
    if (size == 0 || size % kRecord != 0) {
      throw FormatError((folder / name).string(),
                        str("is truncated: ", size, " bytes are no whole number of records of ", kRecord));
    }
    count += size / kRecord;
  }
  ImageSet set{at::empty({count, 3, 32, 32}, at::TensorOptions(at::kByte)),
               at::empty({count}, at::TensorOptions(at::kLong))};
  auto* pixels = set.images.data_ptr<uint8_t>();
  auto* labels = set.labels.data_ptr<int64_t>();
  for (size_t i = 0; i < files.size(); ++i) {
    for (size_t at = 0; at < files[i].size(); at += kRecord) {
      *labels = static_cast<unsigned char>(files[i][at]);
      if (*labels > 9)
        throw FormatError((folder / names[i]).string(), str("record at byte ", at, " has label ", *labels));
      std::memcpy(pixels, files[i].data() + at + 1, kPixels);
      ++labels;
      pixels += kPixels;
    }
  }
  return set;
}

}  // namespace

std::unique_ptr<Source> open_cifar10(const std::string& path, const DataOptions& options) {
  fs::path folder = path;
  if (fs::is_directory(folder / "cifar-10-batches-bin")) folder /= "cifar-10-batches-bin";
  if (!fs::is_directory(folder)) {
    throw Error(
        str("data cifar10: no folder \"", path, "\"; give data as cifar10:FOLDER of the binary version"));
  }
  const ImageSet train = load(folder, {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                       "data_batch_4.bin", "data_batch_5.bin"});
  const ImageSet test = load(folder, {"test_batch.bin"});
  // ImageNet's, as in most published checkpoints for this data set: they can then be loaded and pruned.
  const ImageOptions images = {{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}, true};
  return make_image_source({"cifar10", {3, 32, 32}, 10}, train, test, images, options);
}

}  // namespace hewn::data
