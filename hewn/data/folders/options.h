#pragma once

#include <cstdint>
#include <optional>

namespace hewn {
class OptionTable;
}

namespace hewn::data {

/// How image files become inputs (docs/data.md). What has no value follows from the size of the images.
struct FolderOptions {
  std::optional<int64_t> image_size = {};   // pixels of a side of the model's input
  std::optional<int64_t> eval_resize = {};  // short side before the central crop
  std::optional<double> crop_area = {};     // smallest share of an image that a random crop takes
  int64_t workers = 0;                      // threads that decode; 0: all processors
  double bad_images = 0.001;                // share of damaged images that is tolerated
};

/// Adds one option per field, for the command line and config files.
void describe(FolderOptions& options, OptionTable& table);

/// Throws Error that names the option whose value makes no sense.
void check(const FolderOptions& options);

/// The options with every choice made.
struct ImageSizes {
  int64_t input = 0;
  int64_t eval_resize = 0;
  double crop_area = 0;
};

/// Images of at most this many pixels a side, like Tiny-ImageNet's, are taken as they are.
constexpr int64_t kSmallImage = 64;
ImageSizes choose_sizes(const FolderOptions& options, int64_t width, int64_t height);

}  // namespace hewn::data
