#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hewn::data {

constexpr int64_t kCifarPixels = int64_t{3} * 32 * 32;

struct CifarRecords {
  std::vector<int64_t> labels;
  std::string pixels;  // kCifarPixels of each: red, green and blue planes
};

/// The records of a binary CIFAR file. One is its labels, a byte each, then its pixels; the last label is the
/// class. `labels` says how many values each of them has. Throws FormatError, naming `where`, for others.
CifarRecords parse_cifar(std::string_view bytes, const std::vector<int64_t>& labels,
                         const std::string& where);

}  // namespace hewn::data
