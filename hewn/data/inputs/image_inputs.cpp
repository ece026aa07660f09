#include "hewn/data/inputs/image_inputs.h"

#include "hewn/core/error.h"

namespace hewn::data {
namespace {

/// Luma as in ITU-R 601, rounded as Pillow does it. Grey pixels stay what they are.
uint8_t grey(const uint8_t* rgb) {
  return static_cast<uint8_t>((19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + 0x8000) >> 16);
}

}  // namespace

ImageInputs::ImageInputs(const ImageRule& rule)
    : rule_(rule),
      normalisation_(rule.mean, rule.deviation),
      pixels_(static_cast<size_t>(3 * rule.size * rule.size)) {}

Crop ImageInputs::crop(int64_t width, int64_t height) const {
  if (rule_.resize == 0 && (width != rule_.size || height != rule_.size)) {
    throw DamagedImage(
        str("has ", width, "x", height, " pixels, the model takes images of ", rule_.size, "x", rule_.size));
  }
  return centre_crop(width, height, rule_.resize == 0 ? rule_.size : rule_.resize, rule_.size);
}

void ImageInputs::normalise(float* out) const {
  const auto pixels = static_cast<size_t>(rule_.size * rule_.size);
  for (size_t c = 0; c < static_cast<size_t>(rule_.channels); ++c) {
    const float scale = normalisation_.scale[c];
    const float shift = normalisation_.shift[c];
    for (size_t i = 0; i < pixels; ++i) {
      const uint8_t* rgb = pixels_.data() + 3 * i;
      const auto value = static_cast<float>(rule_.channels == 1 ? grey(rgb) : rgb[c]);
      out[c * pixels + i] = value * scale + shift;
    }
  }
}

void ImageInputs::read(const std::filesystem::path& path, float* out) {
  reader_.read(
      path, [this](int64_t width, int64_t height) { return crop(width, height); }, rule_.size,
      pixels_.data());
  normalise(out);
}

void ImageInputs::decode(std::string_view bytes, float* out) {
  reader_.decode(
      bytes, [this](int64_t width, int64_t height) { return crop(width, height); }, rule_.size,
      pixels_.data());
  normalise(out);
}

}  // namespace hewn::data
