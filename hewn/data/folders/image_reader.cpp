#include "hewn/data/folders/image_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "hewn/data/folders/jpeg_writer.h"

namespace hewn::data {
namespace {

constexpr std::string_view kPngBegin = "\x89PNG";
constexpr std::string_view kJpegBegin = "\xff\xd8";

bool begins(std::string_view bytes, std::string_view with) { return bytes.substr(0, with.size()) == with; }

/// The most that the decoder may shrink a crop so that nothing has to be enlarged afterwards.
int64_t shrink_for(const Crop& crop, int64_t width, int64_t height) {
  const double times =
      std::min(crop.x.length / static_cast<double>(width), crop.y.length / static_cast<double>(height));
  int64_t shrink = 8;
  while (shrink > 1 && times < static_cast<double>(shrink)) shrink /= 2;
  return shrink;
}

/// A span in pixels that are `shrink` times as large.
CropSpan shrunk(const CropSpan& span, int64_t shrink) {
  const auto by = static_cast<double>(shrink);
  return {span.begin / by, span.length / by, span.low / shrink, (span.high + shrink - 1) / shrink};
}

/// Along one axis of decoded pixels, the first of which is number `origin` of the image.
ResampleSpan span_of(const CropSpan& crop, int64_t origin, int64_t size, bool mirror) {
  ResampleSpan out;
  out.begin = crop.begin - static_cast<double>(origin);
  out.step = crop.length / static_cast<double>(size);
  out.low = crop.low - origin;
  out.high = crop.high - origin;
  out.outputs = size;
  out.mirror = mirror;
  return out;
}

}  // namespace

/// Four calls of the system and no more: for a small image they are a fifth of all its time.
std::string_view ImageReader::load(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status {};
  size_t size = 0;
  bool good = file >= 0 && ::fstat(file, &status) == 0;
  if (good && !S_ISREG(status.st_mode)) {
    errno = EINVAL;
    good = false;
  }
  if (good && bytes_.size() < static_cast<size_t>(status.st_size)) {
    bytes_.resize(static_cast<size_t>(status.st_size));
  }
  while (good && size < static_cast<size_t>(status.st_size)) {
    const ssize_t got = ::read(file, bytes_.data() + size, static_cast<size_t>(status.st_size) - size);
    if (got == 0) break;
    good = got > 0 || errno == EINTR;
    size += got > 0 ? static_cast<size_t>(got) : 0;
  }
  const int problem = errno;
  if (file >= 0) ::close(file);
  if (!good) throw DamagedImage(str("cannot be read: ", std::strerror(problem)));
  return {bytes_.data(), size};
}

std::pair<int64_t, int64_t> ImageReader::measure(const std::filesystem::path& path) {
  return measure(load(path));
}

std::pair<int64_t, int64_t> ImageReader::measure(std::string_view bytes) { return open(bytes); }

std::pair<int64_t, int64_t> ImageReader::open(std::string_view bytes) {
  opened_png_ = begins(bytes, kPngBegin);
  if (opened_png_) {
    if (!png_) png_ = std::make_unique<PngDecoder>();
    png_->open(bytes);
    return {png_->width(), png_->height()};
  }
  if (!begins(bytes, kJpegBegin)) throw DamagedImage("is neither a JPEG nor a PNG file");
  if (!jpeg_) jpeg_ = std::make_unique<JpegDecoder>();
  jpeg_->open(bytes);
  return {jpeg_->width(), jpeg_->height()};
}

void ImageReader::read(const std::filesystem::path& path, const ChooseCrop& choose, int64_t size,
                       uint8_t* out) {
  decode(load(path), choose, size, out);
}

void ImageReader::decode(std::string_view bytes, const ChooseCrop& choose, int64_t size, uint8_t* out) {
  const auto [width, height] = open(bytes);
  render(choose(width, height), size, size, out);
}

std::string ImageReader::resized(std::string_view bytes, int64_t short_side) {
  const auto [w, h] = open(bytes);
  const int64_t shorter = std::min(w, h);
  if (shorter <= short_side) return "";
  const int64_t width = short_side * w / shorter;
  const int64_t height = short_side * h / shorter;
  std::vector<uint8_t> pixels(static_cast<size_t>(3 * width * height));
  const Crop whole = {{0, static_cast<double>(w), 0, w}, {0, static_cast<double>(h), 0, h}};
  render(whole, width, height, pixels.data());
  return jpeg_file(pixels.data(), width, height);
}

void ImageReader::render(const Crop& crop, int64_t width, int64_t height, uint8_t* out) {
  const int64_t shrink = opened_png_ ? 1 : shrink_for(crop, width, height);
  const CropSpan x = shrunk(crop.x, shrink);
  const CropSpan y = shrunk(crop.y, shrink);
  const PixelBox box = {x.low, y.low, x.high, y.high};
  const Pixels pixels = opened_png_ ? png_->decode(box) : jpeg_->decode(shrink, box);
  make_axis(span_of(y, pixels.top, height, false), rows_);
  make_axis(span_of(x, pixels.left, width, crop.mirror), columns_);
  const auto scratch = static_cast<size_t>(resample_scratch(columns_));
  if (scratch_.size() < scratch) scratch_.resize(scratch);
  resample(pixels.data, pixels.stride, rows_, columns_, scratch_.data(), out);
}

}  // namespace hewn::data
