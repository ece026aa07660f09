#include "hewn/data/folders/png.h"

#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <vector>

#include "hewn/data/folders/resample.h"

namespace hewn::data {
namespace {

// The most that deflate packs into a byte, and what may be lost to rounding in a tiny file.
constexpr uint64_t kMostPacked = 1032;
constexpr uint64_t kPackedSlack = 4096;
// Decoded bytes from which on a file must be worth them, and after which memory is given back.
constexpr uint64_t kLargeImage = uint64_t{3} << 26;

/// What libpng's callbacks see.
struct PngInput {
  std::string_view rest;
  std::jmp_buf jump;
  char text[256];
};

/// libpng's functions do not return from here. No C++ object with a destructor lives in the frames between.
[[noreturn]] void on_png_error(png_structp png, png_const_charp text) {
  auto& input = *static_cast<PngInput*>(png_get_error_ptr(png));
  std::snprintf(input.text, sizeof(input.text), "%s", text);
  std::longjmp(input.jump, 1);
}

/// They are about bytes that do not matter.
void on_png_warning(png_structp /*png*/, png_const_charp /*text*/) {}

void read_png(png_structp png, png_bytep out, size_t count) {
  auto& input = *static_cast<PngInput*>(png_get_io_ptr(png));
  if (count > input.rest.size()) png_error(png, "PNG file ends too early");
  std::memcpy(out, input.rest.data(), count);
  input.rest.remove_prefix(count);
}

/// Whatever there is becomes 8-bit RGB.
void ask_for_rgb(png_structp png, int colours) {
  png_set_strip_16(png);
  if (colours == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if ((colours & PNG_COLOR_MASK_COLOR) == 0) {
    png_set_expand_gray_1_2_4_to_8(png);
    png_set_gray_to_rgb(png);
  }
  png_set_strip_alpha(png);
}

}  // namespace

struct PngDecoder::State {
  png_structp png = nullptr;
  png_infop info = nullptr;
  PngInput input;
  std::vector<uint8_t> pixels;

  void close() { png_destroy_read_struct(&png, &info, nullptr); }
};

PngDecoder::PngDecoder() : state_(std::make_unique<State>()) {}
PngDecoder::~PngDecoder() { state_->close(); }

void PngDecoder::open(std::string_view bytes) {
  State& s = *state_;
  s.close();
  s.input.rest = bytes;
  if (s.pixels.size() > kLargeImage) std::vector<uint8_t>().swap(s.pixels);
  s.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &s.input, on_png_error, on_png_warning);
  s.info = s.png == nullptr ? nullptr : png_create_info_struct(s.png);
  if (s.info == nullptr) throw Error("libpng cannot be used: no memory, or headers of another version");
  if (setjmp(s.input.jump) != 0) throw DamagedImage(s.input.text);
  png_set_read_fn(s.png, &s.input, read_png);
  // Texts, profiles and the like: nobody wants them, and they may be packed to be large.
  png_set_keep_unknown_chunks(s.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(s.png, s.info);
  if (width() * height() > kMostPixels) {
    throw DamagedImage(str("has ", width(), "x", height(), " pixels, too many"));
  }
  const uint64_t unpacked = static_cast<uint64_t>(height()) * png_get_rowbytes(s.png, s.info);
  if (unpacked > kMostPacked * bytes.size() + kPackedSlack) {
    throw DamagedImage(str("has fewer bytes than ", width(), "x", height(), " pixels need"));
  }
  // A pixel of one bit becomes three bytes.
  const uint64_t decoded = 3 * static_cast<uint64_t>(width() * height());
  if (decoded > kLargeImage && decoded > kMostPacked * bytes.size()) {
    throw DamagedImage(str("has ", width(), "x", height(), " pixels in ", bytes.size(), " bytes, too many"));
  }
}

int64_t PngDecoder::width() const { return png_get_image_width(state_->png, state_->info); }
int64_t PngDecoder::height() const { return png_get_image_height(state_->png, state_->info); }

Pixels PngDecoder::decode(const PixelBox& box) {
  State& s = *state_;
  if (setjmp(s.input.jump) != 0) throw DamagedImage(s.input.text);
  ask_for_rgb(s.png, png_get_color_type(s.png, s.info));
  const int passes = png_set_interlace_handling(s.png);
  png_read_update_info(s.png, s.info);
  const int64_t stride = 3 * width();
  if (static_cast<int64_t>(png_get_rowbytes(s.png, s.info)) != stride) {
    throw DamagedImage("is a PNG file of an unknown kind");
  }
  const int64_t top = passes == 1 ? box.top : 0;
  const int64_t bottom = passes == 1 ? box.bottom : height();
  const auto needed = static_cast<size_t>((bottom - top) * stride + kResamplePadding);
  if (s.pixels.size() < needed) s.pixels.resize(needed);
  for (int64_t y = 0; y < top; ++y) png_read_row(s.png, nullptr, nullptr);
  for (int pass = 0; pass < passes; ++pass) {
    for (int64_t y = top; y < bottom; ++y) {
      png_read_row(s.png, s.pixels.data() + (y - top) * stride, nullptr);
    }
  }
  return {s.pixels.data(), stride, 0, top};
}

}  // namespace hewn::data
