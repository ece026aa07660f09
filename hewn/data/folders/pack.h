#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/data/folders/listing.h"
#include "hewn/data/plumbing/preparation.h"

namespace hewn::data {

/// All images of a folder in one file (docs/formats.md), mapped into memory. Opening checks its tables; the
/// images are checked when they are decoded. What does not fit throws FormatError.
class ImagePack {
 public:
  explicit ImagePack(const std::filesystem::path& path);
  ~ImagePack();
  ImagePack(const ImagePack&) = delete;
  ImagePack& operator=(const ImagePack&) = delete;

  const ImageListing& images() const { return images_; }
  /// The bytes of a JPEG or PNG file, by its number in the listing.
  std::string_view image(size_t number) const;

 private:
  void read_tables(const std::string& path);

  const char* data_ = nullptr;
  uint64_t size_ = 0;
  ImageListing images_;
  std::vector<uint64_t> offsets_;  // one more than there are images
};

struct PackRequest {
  std::filesystem::path folder;
  std::filesystem::path file;
  int64_t short_side = 0;  // larger images are made so small; 0: all are taken as they are
  size_t workers = 1;
  std::string cache = {};  // folder of the index
  std::function<void(const Preparation&)> on_preparation = {};
  std::function<void(const std::string&)> on_message = {};
};

struct Packed {
  int64_t images = 0;
  int64_t resized = 0;
  int64_t source_bytes = 0;
  int64_t bytes = 0;
  double seconds = 0;
};

/// Writes a pack. Damaged images go into it as they are: training names and counts them. Equal folders give
/// equal bytes, whatever the workers.
Packed pack_images(const PackRequest& request);

}  // namespace hewn::data
