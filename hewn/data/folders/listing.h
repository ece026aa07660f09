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
  ImageList validation;  // may be empty
  ImageList test;
  bool whole = false;  // no folder is held out: all images are in `train`, and image_parts divides them
  std::vector<SeenPath> seen;

  /// Images have numbers: first those of train, then of validation, then of test.
  size_t size() const { return train.size() + validation.size() + test.size(); }
  std::string_view path(size_t number) const;
  uint32_t label(size_t number) const;
};

/// Lists the images in one of these layouts, each class's in the order of their names:
///   CLASS/*.JPEG
///   train/CLASS/*.JPEG with val/CLASS/*.JPEG, test/CLASS/*.JPEG or both           (ImageNet)
///   train/CLASS/images/*.JPEG, val/images/*.JPEG, val/val_annotations.txt         (Tiny-ImageNet)
/// Classes are numbered in the order of their names. Throws Error that names what is missing.
ImageListing list_images(const std::filesystem::path& folder);

/// Sorted names of the folders in a folder, without hidden ones.
std::vector<std::string> class_folders(const std::filesystem::path& folder);

/// When a path changed last, in nanoseconds since 1970; -1 where there is none.
int64_t modified(const std::filesystem::path& path);

}  // namespace hewn::data
