#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cstring>
#include <filesystem>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/data/class_names.h"
#include "hewn/data/images.h"

namespace hewn::data {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kPixels = int64_t{3} * 32 * 32;

/// A record is its labels, one byte each, then red, green and blue planes. The last label is the class.
struct CifarFormat {
  const char* name;
  const char* archive;  // the folder that the archive unpacks to
  std::vector<std::string> train;
  std::string test;
  std::vector<int64_t> labels;  // how many values each of them has
  std::vector<std::string> classes;

  int64_t record() const { return static_cast<int64_t>(labels.size()) + kPixels; }
};

/// The class of the record that begins at this byte.
int64_t label_at(const CifarFormat& format, const fs::path& file, const std::string& bytes, size_t at) {
  int64_t label = 0;
  for (size_t i = 0; i < format.labels.size(); ++i) {
    label = static_cast<unsigned char>(bytes[at + i]);
    if (label >= format.labels[i]) {
      throw FormatError(file.string(), str("record at byte ", at, " has label ", label));
    }
  }
  return label;
}

ImageSet load(const CifarFormat& format, const fs::path& folder, const std::vector<std::string>& names) {
  std::vector<std::string> files;
  int64_t count = 0;
  for (const std::string& name : names) {
    files.push_back(read_file(folder / name));
    const auto size = static_cast<int64_t>(files.back().size());
    if (size == 0 || size % format.record() != 0) {
      throw FormatError(
          (folder / name).string(),
          str("is truncated: ", size, " bytes are no whole number of records of ", format.record()));
    }
    count += size / format.record();
  }
  ImageSet set{at::empty({count, 3, 32, 32}, at::TensorOptions(at::kByte)),
               at::empty({count}, at::TensorOptions(at::kLong))};
  auto* pixels = set.images.data_ptr<uint8_t>();
  auto* labels = set.labels.data_ptr<int64_t>();
  for (size_t i = 0; i < files.size(); ++i) {
    for (size_t at = 0; at < files[i].size(); at += static_cast<size_t>(format.record())) {
      *labels++ = label_at(format, folder / names[i], files[i], at);
      std::memcpy(pixels, files[i].data() + at + format.labels.size(), kPixels);
      pixels += kPixels;
    }
  }
  return set;
}

std::unique_ptr<Source> open_cifar(const CifarFormat& format, const std::string& path,
                                   const DataOptions& options) {
  fs::path folder = path;
  if (fs::is_directory(folder / format.archive)) folder /= format.archive;
  if (!fs::is_directory(folder)) {
    throw Error(str("data ", format.name, ": no folder \"", path, "\"; give data as ", format.name,
                    ":FOLDER of the binary version"));
  }
  const ImageSet train = load(format, folder, format.train);
  const ImageSet test = load(format, folder, {format.test});
  // ImageNet's, as in most published checkpoints for these data sets: they can then be loaded and pruned.
  const ImageOptions images = {{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}, true, format.classes};
  return make_image_source({format.name, {3, 32, 32}, format.labels.back()}, train, test, images, options);
}

}  // namespace

std::unique_ptr<Source> open_cifar10(const std::string& path, const DataOptions& options) {
  const CifarFormat format = {
      "cifar10",
      "cifar-10-batches-bin",
      {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
      "test_batch.bin",
      {10},
      cifar10_names()};
  return open_cifar(format, path, options);
}

std::unique_ptr<Source> open_cifar100(const std::string& path, const DataOptions& options) {
  const CifarFormat format = {"cifar100", "cifar-100-binary", {"train.bin"},
                              "test.bin", {20, 100},          cifar100_names()};
  return open_cifar(format, path, options);
}

}  // namespace hewn::data
