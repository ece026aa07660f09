#include "hewn/io/onnx_start.h"

#include <algorithm>
#include <array>
#include <optional>

namespace hewn::io {
namespace {

constexpr uint64_t kVarint = 0;  // wire types of protocol buffers
constexpr uint64_t kBytes = 2;
constexpr uint64_t kNewestVersion = 100;  // of the format; 13 in 2025

constexpr uint64_t kIrVersion = 1;  // numbers of a ModelProto's fields
constexpr uint64_t kModelVersion = 5;
constexpr uint64_t kGraph = 7;
constexpr uint64_t kOpsets = 8;
// Producer, its version, domain, note, graph, opsets, metadata, training, functions, configuration.
constexpr std::array<uint64_t, 10> kTexts = {2, 3, 4, 6, kGraph, kOpsets, 14, 20, 25, 26};

std::optional<uint64_t> take_varint(std::string_view& rest) {
  uint64_t value = 0;
  for (int shift = 0; shift < 63 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

}  // namespace

bool starts_as_onnx(std::string_view start, uint64_t size) {
  bool versioned = false;
  bool network = false;
  std::string_view rest = start;
  while (!rest.empty()) {
    const bool cut = start.size() < size && rest.size() < 20;  // a field may go on behind these bytes
    const auto tag = take_varint(rest);
    const auto value = tag ? take_varint(rest) : std::nullopt;
    if (!value) return cut && versioned && network;
    const uint64_t field = *tag >> 3;
    const uint64_t wire = *tag & 7;
    if (wire == kVarint && (field == kIrVersion || field == kModelVersion)) {
      if (field == kIrVersion && (*value == 0 || *value > kNewestVersion)) return false;
      versioned = versioned || field == kIrVersion;
      continue;
    }
    if (wire != kBytes || std::find(kTexts.begin(), kTexts.end(), field) == kTexts.end()) return false;
    if (*value > size - static_cast<uint64_t>(rest.data() - start.data())) return false;
    network = network || field == kGraph || field == kOpsets;
    if (*value >= rest.size()) return versioned && network;
    rest.remove_prefix(*value);
  }
  return versioned && network;
}

}  // namespace hewn::io
