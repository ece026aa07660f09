#include "hewn/data/folders/jpeg.h"

// jpeglib.h needs these two first.
#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>
// Must come after jpeglib.h.
#include <jerror.h>

#include <algorithm>
#include <vector>

#include "hewn/data/folders/resample.h"

namespace hewn::data {
namespace {

// Chroma is smoothed over its neighbours: so many more columns make the edges what they are in the whole.
constexpr int64_t kMargin = 2;

struct ErrorState {
  jpeg_error_mgr manager;  // first: libjpeg hands out its address
  std::jmp_buf jump;
  char text[JMSG_LENGTH_MAX];
};

ErrorState& error_of(j_common_ptr info) { return *reinterpret_cast<ErrorState*>(info->err); }

/// libjpeg's functions do not return from here. No C++ object with a destructor lives in the frames between.
[[noreturn]] void on_error(j_common_ptr info) {
  ErrorState& error = error_of(info);
  error.manager.format_message(info, error.text);
  std::longjmp(error.jump, 1);
}

/// Most warnings are about bytes that do not matter. These mean that pixels are missing.
void on_message(j_common_ptr info, int level) {
  const int code = info->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE)) {
    on_error(info);
  }
}

/// Never shorter: what is cut off would be cleared again when the next image needs it.
void grow(std::vector<uint8_t>& bytes, int64_t size) {
  if (bytes.size() < static_cast<size_t>(size)) bytes.resize(static_cast<size_t>(size));
}

/// Adobe's programs store inks inverted, and say so with a marker.
void to_rgb(const uint8_t* cmyk, int64_t pixels, bool inverted, uint8_t* rgb) {
  const int flip = inverted ? 0 : 255;
  for (int64_t i = 0; i < pixels; ++i, cmyk += 4, rgb += 3) {
    for (int64_t c = 0; c < 3; ++c) {
      rgb[c] = static_cast<uint8_t>(((cmyk[c] ^ flip) * (cmyk[3] ^ flip) + 127) / 255);
    }
  }
}

}  // namespace

struct JpegDecoder::State {
  jpeg_decompress_struct info;
  ErrorState error;
  std::vector<uint8_t> pixels;
  std::vector<uint8_t> inks;  // one row of a CMYK image
  Pixels view;
  // Kept here and not in a function: a jump would leave a local variable without a value.
  JDIMENSION left, columns;
};

JpegDecoder::JpegDecoder() : state_(std::make_unique<State>()) {
  state_->info.err = jpeg_std_error(&state_->error.manager);
  state_->error.manager.error_exit = on_error;
  state_->error.manager.emit_message = on_message;
  if (setjmp(state_->error.jump) != 0) throw Error(state_->error.text);
  jpeg_create_decompress(&state_->info);
}

JpegDecoder::~JpegDecoder() { jpeg_destroy_decompress(&state_->info); }

void JpegDecoder::open(std::string_view bytes) {
  State& s = *state_;
  jpeg_abort_decompress(&s.info);
  if (bytes.size() < 4) throw DamagedImage("is no JPEG file: it is too short");
  if (setjmp(s.error.jump) != 0) throw DamagedImage(s.error.text);
  jpeg_mem_src(&s.info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&s.info, TRUE);
  if (width() * height() > kMostPixels) {
    throw DamagedImage(str("has ", width(), "x", height(), " pixels, too many"));
  }
}

int64_t JpegDecoder::width() const { return state_->info.image_width; }
int64_t JpegDecoder::height() const { return state_->info.image_height; }

Pixels JpegDecoder::decode(int64_t shrink, const PixelBox& box) {
  State& s = *state_;
  jpeg_decompress_struct& info = s.info;
  if (setjmp(s.error.jump) != 0) throw DamagedImage(s.error.text);
  const bool inks = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = inks ? JCS_CMYK : JCS_RGB;
  info.scale_num = 1;
  info.scale_denom = static_cast<unsigned>(shrink);
  jpeg_start_decompress(&info);
  s.left = static_cast<JDIMENSION>(std::max<int64_t>(0, box.left - kMargin));
  const int64_t right = std::min<int64_t>(info.output_width, box.right + kMargin);
  s.columns = static_cast<JDIMENSION>(right) - s.left;
  if (s.columns < info.output_width) jpeg_crop_scanline(&info, &s.left, &s.columns);

  const auto stride = int64_t{3} * info.output_width;
  grow(s.pixels, (box.bottom - box.top) * stride + kResamplePadding);
  if (inks) grow(s.inks, int64_t{4} * info.output_width);
  s.view = {s.pixels.data(), stride, s.left, box.top};
  if (box.top > 0) jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(box.top));
  while (static_cast<int64_t>(info.output_scanline) < box.bottom) {
    uint8_t* row = s.pixels.data() + (info.output_scanline - box.top) * stride;
    JSAMPROW into = inks ? s.inks.data() : row;
    jpeg_read_scanlines(&info, &into, 1);
    if (inks) to_rgb(s.inks.data(), info.output_width, info.saw_Adobe_marker != 0, row);
  }
  return s.view;
}

}  // namespace hewn::data
