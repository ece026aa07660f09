#pragma once

#include <memory>
#include <string_view>

#include "hewn/data/folders/pixels.h"

namespace hewn::data {

/// Decodes one PNG after the other and keeps its pixels' memory; one per thread. All kinds come out as RGB
/// bytes, as Pillow's convert("RGB") gives them: grey in all three channels, palettes looked up, alpha
/// dropped, of 16 bits the upper 8. Throws Error in a build without libpng.
class PngDecoder {
 public:
  PngDecoder();
  ~PngDecoder();
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;

  /// Reads what comes before the pixels. The bytes must live until decode() returns. Throws DamagedImage.
  void open(std::string_view bytes);
  int64_t width() const;
  int64_t height() const;

  /// Pixels of the opened image, of at least the box; once after each open(). Their memory is the decoder's,
  /// with room to read behind it for resample. Rows below the box are not decoded unless the image is
  /// interlaced.
  Pixels decode(const PixelBox& box);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hewn::data
