#include "hewn/data/folders/jpeg_writer.h"

// jpeglib.h needs this first.
#include <cstdio>

#include <jpeglib.h>

#include <cstdlib>

namespace hewn::data {
namespace {

constexpr int kQuality = 92;

}  // namespace

std::string jpeg_file(const uint8_t* pixels, int64_t width, int64_t height) {
  jpeg_compress_struct info{};
  jpeg_error_mgr error{};
  // Pixels in memory to bytes in memory: nothing here depends on what a file holds, so nothing fails.
  info.err = jpeg_std_error(&error);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's type
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, kQuality, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPROW>(pixels + static_cast<int64_t>(info.next_scanline) * 3 * width);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  std::string out(reinterpret_cast<const char*>(bytes), size);
  jpeg_destroy_compress(&info);
  std::free(bytes);
  return out;
}

}  // namespace hewn::data
