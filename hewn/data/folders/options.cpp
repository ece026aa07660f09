#include "hewn/data/folders/options.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/options.h"

namespace hewn::data {
namespace {

constexpr int64_t kUsualInput = 224;
constexpr int64_t kUsualResize = 256;
constexpr int64_t kLargestInput = 4096;
constexpr int64_t kMostWorkers = 1024;

}  // namespace

void describe(FolderOptions& options, OptionTable& table) {
  table.add("image-size", options.image_size,
            "pixels of a side of the input, imagefolder; auto: 224, or 64 where images are that small");
  table.add(
      "eval-resize", options.eval_resize,
      "short side of a test image before its central crop; auto: 256 for 224, small images as they are");
  table.add("crop-area", options.crop_area,
            "smallest share of an image in a random crop; auto: 0.08, 0.25 for small images");
  table.add("workers", options.workers, "threads that decode images; 0: all cores").may_change_on_resume();
  table.add("bad-images", options.bad_images, "share of damaged images that is tolerated");
}

void check(const FolderOptions& options) {
  const auto side = [](const char* name, const std::optional<int64_t>& value) {
    if (!value || (*value >= 1 && *value <= kLargestInput)) return;
    throw Error(str(name, ": expected 1 to ", kLargestInput, ", got ", *value));
  };
  side("image-size", options.image_size);
  side("eval-resize", options.eval_resize);
  const double area = options.crop_area.value_or(1);
  if (!(area > 0 && area <= 1)) throw Error(str("crop-area: expected a share in (0, 1], got ", area));
  if (options.workers < 0 || options.workers > kMostWorkers) {
    throw Error(str("workers: expected 0 to ", kMostWorkers, ", got ", options.workers));
  }
  if (!(options.bad_images >= 0 && options.bad_images < 1)) {
    throw Error(str("bad-images: expected a share in [0, 1), got ", options.bad_images));
  }
}

ImageSizes choose_sizes(const FolderOptions& options, int64_t width, int64_t height) {
  const bool small = std::max(width, height) <= kSmallImage;
  ImageSizes out;
  out.input = options.image_size.value_or(small ? kSmallImage : kUsualInput);
  out.eval_resize = options.eval_resize.value_or(
      small ? out.input : (out.input * kUsualResize + kUsualInput / 2) / kUsualInput);
  out.crop_area = options.crop_area.value_or(small ? 0.25 : 0.08);
  if (out.eval_resize < out.input) {
    throw Error(str("eval-resize: expected at least the image size ", out.input, ", got ", out.eval_resize));
  }
  return out;
}

}  // namespace hewn::data
