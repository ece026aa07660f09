#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <filesystem>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/data/class_names.h"
#include "hewn/data/idx.h"
#include "hewn/data/images.h"

namespace hewn::data {
namespace {

namespace fs = std::filesystem;

/// The file itself or its gzip form.
fs::path choose(const fs::path& folder, const std::string& name) {
  const fs::path packed = folder / (name + ".gz");
  return is_there(packed) ? packed : folder / name;
}

ImageSet load(const fs::path& folder, const std::string& prefix) {
  const fs::path image_file = choose(folder, prefix + "-images-idx3-ubyte");
  const fs::path label_file = choose(folder, prefix + "-labels-idx1-ubyte");
  IdxArray images = read_idx(image_file, 3);
  IdxArray labels = read_idx(label_file, 1);
  const int64_t count = images.shape[0];
  if (images.shape[1] != 28 || images.shape[2] != 28) {
    throw FormatError(image_file.string(),
                      str("expected images of 28x28, got ", images.shape[1], "x", images.shape[2]));
  }
  if (labels.shape[0] != count || count == 0) {
    throw FormatError(label_file.string(), str("has ", labels.shape[0], " labels for ", count, " images"));
  }
  if (std::any_of(labels.bytes.begin(), labels.bytes.end(),
                  [](char label) { return label < 0 || label > 9; })) {
    throw FormatError(label_file.string(), "holds a label outside 0 to 9");
  }
  const auto bytes = at::TensorOptions(at::kByte);
  return {at::from_blob(images.bytes.data(), {count, 1, 28, 28}, bytes).clone(),
          at::from_blob(labels.bytes.data(), {count}, bytes).to(at::kLong)};
}

std::unique_ptr<Source> open(const char* name, const fs::path& folder, const ImageOptions& images,
                             const DataOptions& options) {
  return make_image_source({name, {1, 28, 28}, 10}, load(folder, "train"), load(folder, "t10k"), images,
                           options);
}

}  // namespace

std::unique_ptr<Source> open_fashion_mnist(const std::string& path, const DataOptions& options) {
  const fs::path folder = path.empty() ? "/usr/share/datasets/fashion-mnist" : path;
  if (!fs::is_directory(folder)) {
    throw Error(str("data fashion-mnist: no folder ", folder.string(),
                    "; install the package dataset-fashion-mnist or give data as fashion-mnist:FOLDER"));
  }
  return open("fashion-mnist", folder, {{0.2860}, {0.3530}, false, fashion_names()}, options);
}

std::unique_ptr<Source> open_mnist(const std::string& path, const DataOptions& options) {
  if (!fs::is_directory(path))
    throw Error(str("data mnist: no folder \"", path, "\"; give data as mnist:FOLDER"));
  return open("mnist", path, {{0.1307}, {0.3081}, false, digit_names()}, options);
}

}  // namespace hewn::data
