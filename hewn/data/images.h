#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "hewn/data/source.h"

namespace hewn::data {

/// Small images that fit in memory: N x C x H x W bytes and N labels.
struct ImageSet {
  at::Tensor images;  // uint8
  at::Tensor labels;  // int64
};

struct ImageOptions {
  std::vector<double> mean;  // per channel, of values in [0, 1]
  std::vector<double> deviation;
  bool crop_and_flip = false;             // random crop from an image padded by 4, random mirror
  std::vector<std::string> classes = {};  // their names
};

/// Keeps both sets on the device, shuffles, crops, mirrors and normalises there.
std::unique_ptr<Source> make_image_source(const DataInfo& info, const ImageSet& train, const ImageSet& test,
                                          const ImageOptions& images, const DataOptions& options);

}  // namespace hewn::data
