#include "tests/support/jpegs.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <jpeglib.h>

namespace hewn::test {

std::string jpeg_bytes(const Picture& picture) {
  jpeg_compress_struct info;
  jpeg_error_mgr error;
  info.err = jpeg_std_error(&error);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's type
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = static_cast<JDIMENSION>(picture.width);
  info.image_height = static_cast<JDIMENSION>(picture.height);
  info.input_components = picture.channels;
  info.in_color_space = picture.channels == 1 ? JCS_GRAYSCALE : picture.channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  if (picture.ycck) jpeg_set_colorspace(&info, JCS_YCCK);
  jpeg_set_quality(&info, picture.quality, TRUE);
  if (picture.channels == 3) {
    info.comp_info[0].h_samp_factor = picture.chroma_x;
    info.comp_info[0].v_samp_factor = picture.chroma_y;
  }
  if (picture.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  std::vector<uint8_t> row(static_cast<size_t>(picture.width * picture.channels));
  for (int y = 0; y < picture.height; ++y) {
    for (size_t i = 0; i < row.size(); ++i) {
      const int x = static_cast<int>(i) / picture.channels;
      row[i] = static_cast<uint8_t>(picture.value(x, y, static_cast<int>(i) % picture.channels));
    }
    JSAMPROW rows = row.data();
    jpeg_write_scanlines(&info, &rows, 1);
  }
  jpeg_finish_compress(&info);
  std::string out(reinterpret_cast<const char*>(bytes), size);
  jpeg_destroy_compress(&info);
  std::free(bytes);
  return out;
}

std::vector<uint8_t> plainly_decoded(const std::string& bytes) {
  jpeg_decompress_struct info;
  jpeg_error_mgr error;
  info.err = jpeg_std_error(&error);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&info, TRUE);
  info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info);
  const size_t stride = size_t{3} * info.output_width;
  std::vector<uint8_t> out(stride * info.output_height);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = out.data() + info.output_scanline * stride;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_destroy_decompress(&info);
  return out;
}

std::string plain_jpeg(int width, int height, int red, int green, int blue) {
  Picture picture;
  picture.width = width;
  picture.height = height;
  picture.value = [=](int, int, int c) { return c == 0 ? red : c == 1 ? green : blue; };
  return jpeg_bytes(picture);
}

Picture wavy(int width, int height, int number) {
  Picture picture;
  picture.width = width;
  picture.height = height;
  picture.value = [number](int x, int y, int c) {
    return 128 + static_cast<int>(100 * std::sin(0.13 * (c + 1 + number % 5) * x + number) *
                                  std::cos(0.11 * (3 - c + number % 3) * y));
  };
  return picture;
}

}  // namespace hewn::test
