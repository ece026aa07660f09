#pragma once

#include <cstdint>
#include <string>

namespace hewn::data {

/// The bytes of a JPEG file with these RGB pixels.
std::string jpeg_file(const uint8_t* pixels, int64_t width, int64_t height);

}  // namespace hewn::data
