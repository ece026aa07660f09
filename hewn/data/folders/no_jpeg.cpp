// Takes the place of jpeg.cpp and jpeg_writer.cpp in a build without libjpeg.
#include "hewn/data/folders/jpeg.h"
#include "hewn/data/folders/jpeg_writer.h"

namespace hewn::data {

struct JpegDecoder::State {};

JpegDecoder::JpegDecoder() {
  throw Error("data imagefolder: this build cannot decode JPEG files; install libjpeg-dev (libjpeg-turbo)");
}
JpegDecoder::~JpegDecoder() = default;
void JpegDecoder::open(std::string_view /*bytes*/) {}
int64_t JpegDecoder::width() const { return 0; }
int64_t JpegDecoder::height() const { return 0; }
Pixels JpegDecoder::decode(int64_t /*shrink*/, const PixelBox& /*box*/) { return {}; }
std::string jpeg_file(const uint8_t* /*pixels*/, int64_t /*width*/, int64_t /*height*/) {
  throw Error("short-side: this build cannot write JPEG files; install libjpeg-dev (libjpeg-turbo)");
}

}  // namespace hewn::data
