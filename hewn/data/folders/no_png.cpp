// Takes the place of png.cpp in a build without libpng.
#include "hewn/data/folders/png.h"

namespace hewn::data {

struct PngDecoder::State {};

PngDecoder::PngDecoder() {
  throw Error(
      "data imagefolder: this build cannot decode PNG files; install libpng-dev and build with HEWN_PNG=ON");
}
PngDecoder::~PngDecoder() = default;
void PngDecoder::open(std::string_view /*bytes*/) {}
int64_t PngDecoder::width() const { return 0; }
int64_t PngDecoder::height() const { return 0; }
Pixels PngDecoder::decode(const PixelBox& /*box*/) { return {}; }

}  // namespace hewn::data
