#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/data/cifar_records.h"
#include "hewn/data/class_names.h"
#include "hewn/data/images.h"

namespace hewn::data {
namespace {

namespace fs = std::filesystem;

struct CifarFormat {
  const char* name;
  const char* archive;  // the folder that the archive unpacks to
  std::vector<std::string> train;
  std::string test;
  std::vector<int64_t> labels;  // how many values each of them has
  std::vector<std::string> classes;
};

ImageSet load(const CifarFormat& format, const fs::path& folder, const std::vector<std::string>& names) {
  std::vector<CifarRecords> files;
  int64_t count = 0;
  for (const std::string& name : names) {
    files.push_back(parse_cifar(read_file(folder / name), format.labels, (folder / name).string()));
    count += static_cast<int64_t>(files.back().labels.size());
  }
  ImageSet set{at::empty({count, 3, 32, 32}, at::TensorOptions(at::kByte)),
               at::empty({count}, at::TensorOptions(at::kLong))};
  auto* pixels = set.images.data_ptr<uint8_t>();
  auto* labels = set.labels.data_ptr<int64_t>();
  for (const CifarRecords& file : files) {
    labels = std::copy(file.labels.begin(), file.labels.end(), labels);
    std::memcpy(pixels, file.pixels.data(), file.pixels.size());
    pixels += file.pixels.size();
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
