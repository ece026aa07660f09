#pragma once

#include <cstdint>

namespace hewn::data {

/// At the beginning of a pack: the images follow, then the index (index.h) and the offsets of the images.
struct PackHeader {
  char magic[8] = {'H', 'E', 'W', 'N', 'P', 'C', 'K', '\n'};
  uint32_t version = 1;
  uint32_t crc = 0;      // of the index and the offsets
  uint64_t index = 0;    // offset of the index
  uint64_t offsets = 0;  // offset of the offsets, which reach to the end of the file
  uint64_t file_bytes = 0;
};
static_assert(sizeof(PackHeader) == 40);

}  // namespace hewn::data
