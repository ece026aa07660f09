#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hewn::data {

/// Many paths and their classes in little memory.
class ImageList {
 public:
  void add(std::string_view path, uint32_t label);
  size_t size() const { return labels.size(); }
  /// Relative to the data's folder.
  std::string_view path(size_t i) const;

  std::vector<uint32_t> labels;
  std::vector<uint64_t> ends;  // of the paths in `text`
  std::string text;
};

/// A folder or file that the listing depends on, as it was before it was read.
struct SeenPath {
  std::string path;  // relative to the data's folder
  int64_t modified;  // nanoseconds since 1970; -1: there was none
};

struct ImageListing {
  std::vector<std::string> classes;
  ImageList train;
  ImageList test;
  std::vector<SeenPath> seen;
};

/// Lists the images in one of two layouts, each class's in the order of their names:
///   train/CLASS/*.JPEG, val/CLASS/*.JPEG                                          (ImageNet)
///   train/CLASS/images/*.JPEG, val/images/*.JPEG, val/val_annotations.txt         (Tiny-ImageNet)
/// Classes are numbered in the order of their names. Throws Error that names what is missing.
ImageListing list_images(const std::filesystem::path& folder);

/// When a path changed last, in nanoseconds since 1970; -1 where there is none.
int64_t modified(const std::filesystem::path& path);

}  // namespace hewn::data
