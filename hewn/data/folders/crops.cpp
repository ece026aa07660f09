#include "hewn/data/folders/crops.h"

#include <algorithm>
#include <cmath>

#include "hewn/core/random.h"

namespace hewn::data {
namespace {

constexpr uint64_t kAttempts = 10;
constexpr uint64_t kDraws = 16;  // a power of two above the attempts: words of different images never meet
constexpr double kNarrowest = 3.0 / 4;
constexpr double kWidest = 4.0 / 3;

CropSpan pixels(int64_t begin, int64_t length) {
  return {static_cast<double>(begin), static_cast<double>(length), begin, begin + length};
}

/// What torchvision takes when no attempt fits: the middle, in the nearest shape that is allowed.
Crop middle(int64_t width, int64_t height) {
  const double ratio = static_cast<double>(width) / static_cast<double>(height);
  int64_t w = width;
  int64_t h = height;
  if (ratio < kNarrowest) h = std::llround(static_cast<double>(width) / kNarrowest);
  if (ratio > kWidest) w = std::llround(static_cast<double>(height) * kWidest);
  return {pixels((width - w) / 2, w), pixels((height - h) / 2, h)};
}

CropSpan centre(int64_t extent, int64_t resized, int64_t size) {
  const double step = static_cast<double>(extent) / static_cast<double>(resized);
  const double radius = std::max(1.0, step);
  const double first = std::nearbyint(static_cast<double>(resized - size) / 2);
  CropSpan out;
  out.begin = first * step;
  out.length = static_cast<double>(size) * step;
  // Outputs at the edges look beyond them: the image goes on there.
  out.low = std::max<int64_t>(0, static_cast<int64_t>(std::floor(out.begin - radius)));
  out.high = std::min(extent, static_cast<int64_t>(std::ceil(out.begin + out.length + radius)));
  return out;
}

}  // namespace

Crop random_crop(int64_t width, int64_t height, double area, uint64_t seed, uint64_t epoch, uint64_t image) {
  const auto words = [&](uint64_t n) { return draw(seed, Stream::kAugment, epoch, image * kDraws + n); };
  const double all = static_cast<double>(width) * static_cast<double>(height);
  Crop out = middle(width, height);
  for (uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
    const auto word = words(attempt + 1);
    const double share = all * (area + (1 - area) * unit(word[0]));
    const double ratio =
        std::exp(std::log(kNarrowest) + (std::log(kWidest) - std::log(kNarrowest)) * unit(word[1]));
    const int64_t w = std::llround(std::sqrt(share * ratio));
    const int64_t h = std::llround(std::sqrt(share / ratio));
    if (w < 1 || h < 1 || w > width || h > height) continue;
    out = {pixels(below(word[2], static_cast<uint32_t>(width - w + 1)), w),
           pixels(below(word[3], static_cast<uint32_t>(height - h + 1)), h)};
    break;
  }
  out.mirror = below(words(0)[0], 2) == 1;
  return out;
}

Crop centre_crop(int64_t width, int64_t height, int64_t resize, int64_t size) {
  const int64_t shorter = std::min(width, height);
  return {centre(width, resize * width / shorter, size), centre(height, resize * height / shorter, size)};
}

}  // namespace hewn::data
