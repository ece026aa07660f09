#include "hewn/data/inputs/image_rule.h"

#include <cmath>

#include "hewn/core/error.h"

namespace hewn::data {
namespace {

constexpr int64_t kMostPixelsOfASide = 1 << 14;

int64_t pixels_in(const Json& value, const char* key, int64_t least) {
  if (!value.is_number_integer() || value < least || value > kMostPixelsOfASide)
    throw Error(str("\"", key, "\": expected whole numbers from ", least, " to ", kMostPixelsOfASide));
  return value.get<int64_t>();
}

std::vector<double> by_channel(const Json& json, const char* key, size_t channels) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array() || found->size() != channels)
    throw Error(str("\"", key, "\": expected ", channels, " numbers"));
  std::vector<double> out;
  for (const Json& value : *found) {
    out.push_back(value.is_number() ? value.get<double>() : std::nan(""));
    if (!std::isfinite(out.back())) throw Error(str("\"", key, "\": expected ", channels, " numbers"));
  }
  return out;
}

}  // namespace

Json ImageRule::to_json() const {
  Json out = {{"kind", "image"}, {"size", {size, size}}};
  if (resize > 0) out["resize"] = resize;
  out["mean"] = mean;
  out["std"] = deviation;
  return out;
}

ImageRule image_rule(const Json& json, int64_t channels, int64_t height, int64_t width) {
  ImageRule out;
  const auto sizes = json.find("size");
  if (sizes == json.end() || !sizes->is_array() || sizes->size() != 2)
    throw Error("\"size\": expected height and width");
  out.size = pixels_in((*sizes)[0], "size", 1);
  if (pixels_in((*sizes)[1], "size", 1) != out.size || out.size != height || out.size != width ||
      (channels != 1 && channels != 3)) {
    throw Error(str("\"size\": does not fit a model that takes ", channels, "x", height, "x", width,
                    "; expected square images of 1 or 3 channels"));
  }
  out.channels = channels;
  if (json.contains("resize")) out.resize = pixels_in(json["resize"], "resize", out.size);
  out.mean = by_channel(json, "mean", static_cast<size_t>(channels));
  out.deviation = by_channel(json, "std", static_cast<size_t>(channels));
  for (const double deviation : out.deviation) {
    if (!(deviation > 0)) throw Error("\"std\": expected numbers above 0");
  }
  return out;
}

}  // namespace hewn::data
