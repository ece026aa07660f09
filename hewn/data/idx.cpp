#include "hewn/data/idx.h"

#include "hewn/core/error.h"
#include "hewn/core/files.h"

namespace hewn::data {
namespace {

constexpr uint64_t kMostIdx = uint64_t{1} << 31;  // 2 GiB: times another extent it does not overflow

}  // namespace

IdxArray read_idx(const std::filesystem::path& path, int dimensions) {
  const std::string where = path.string();
  const size_t header = 4 + 4 * static_cast<size_t>(dimensions);
  std::string content = read_gzip_start(path, header);
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(content[i])); };
  if (content.size() < header) throw FormatError(where, "is too short for an IDX file");
  constexpr uint32_t kUnsignedByte = 8;
  if (byte(0) != 0 || byte(1) != 0 || byte(2) != kUnsignedByte ||
      byte(3) != static_cast<uint32_t>(dimensions)) {
    throw FormatError(where, str("expected an IDX file of unsigned bytes with ", dimensions, " dimensions"));
  }
  IdxArray array;
  uint64_t size = 1;
  for (size_t d = 0; d < static_cast<size_t>(dimensions); ++d) {
    const size_t at = 4 + 4 * d;
    const uint32_t extent = byte(at) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3);
    array.shape.push_back(extent);
    // Three 32-bit extents of a real file multiply to far less.
    size = size > kMostIdx ? size : size * extent;
  }
  if (size > kMostIdx) throw FormatError(where, str("states more than ", kMostIdx, " bytes of data"));
  // A few bytes can be unpacked to gigabytes: no more is read than the header has stated.
  content = read_gzip(path, header + size);
  if (content.size() - header != size) {
    throw FormatError(where, str("is truncated: expected ", size, " bytes behind its header, got ",
                                 content.size() - header));
  }
  array.bytes = content.substr(header);
  return array;
}

}  // namespace hewn::data
