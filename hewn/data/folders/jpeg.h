#pragma once

#include <memory>
#include <string_view>

#include "hewn/data/folders/pixels.h"

namespace hewn::data {

/// Decodes one JPEG after the other and keeps its memory; one per thread. Grey, CMYK and YCCK images come out
/// as RGB too. Throws Error in a build without libjpeg.
class JpegDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  /// Reads the header. The bytes must live until decode() returns. Throws DamagedImage.
  void open(std::string_view bytes);
  int64_t width() const;
  int64_t height() const;

  /// Pixels of the opened image at 1/shrink of its size (1, 2, 4 or 8), of at least the box, which is in
  /// shrunk pixels. Their memory is the decoder's, with room to read behind it for resample. Rows
  /// below the box are not decoded, rows above and columns beside it only as far as the format needs.
  Pixels decode(int64_t shrink, const PixelBox& box);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hewn::data
