#include <limits>
#include <string_view>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/io/zip.h"

namespace hewn::io {
namespace {

constexpr uint64_t kVersion = 20;          // of the ZIP format, 2.0
constexpr uint64_t kFirstDate = 0x210000;  // 1980-01-01: equal arrays make equal files

std::string bytes_of(uint64_t value, int count) {
  std::string out;
  for (int i = 0; i < count; ++i, value >>= 8) out.push_back(static_cast<char>(value & 0xff));
  return out;
}

/// A field that readers skip, so that what follows `offset` bytes and the field lies at a multiple of
/// `alignment`; torch.save fills up in the same way.
std::string padding(uint64_t offset, uint64_t alignment) {
  constexpr uint64_t kFieldHeader = 4;
  if (offset % alignment == 0) return "";
  const uint64_t size = alignment - (offset + kFieldHeader) % alignment;
  return str("FB", bytes_of(size, 2), std::string(size, 'Z'));
}

}  // namespace

void write_zip(const std::filesystem::path& path,
               const std::vector<std::pair<std::string, std::string_view>>& members, uint64_t alignment) {
  constexpr uint64_t kHeaderSize = 30;
  std::vector<std::string> headers;
  std::string directory;
  uint64_t offset = 0;
  for (const auto& [name, bytes] : members) {
    // What stands the same in a member's header and in the directory: flags and method are 0.
    const std::string common = bytes_of(kVersion, 2) + bytes_of(0, 4) + bytes_of(kFirstDate, 4) +
                               bytes_of(crc32(bytes), 4) + bytes_of(bytes.size(), 4) +
                               bytes_of(bytes.size(), 4) + bytes_of(name.size(), 2);
    const std::string extra = padding(offset + kHeaderSize + name.size(), alignment);
    headers.push_back(str("PK\x03\x04", common, bytes_of(extra.size(), 2), name, extra));
    directory += str("PK\x01\x02", bytes_of(kVersion, 2), common, bytes_of(0, 12), bytes_of(offset, 4), name);
    offset += headers.back().size() + bytes.size();
  }
  if (offset + directory.size() > std::numeric_limits<uint32_t>::max()) {
    throw Error(str(path.string(), ": would be larger than 4 GiB, which is not supported"));
  }
  if (members.size() > std::numeric_limits<uint16_t>::max()) {
    throw Error(str(path.string(), ": would have ", members.size(), " members, more than a ZIP archive can"));
  }
  const std::string end = "PK\x05\x06" + bytes_of(0, 4) + bytes_of(members.size(), 2) +
                          bytes_of(members.size(), 2) + bytes_of(directory.size(), 4) + bytes_of(offset, 4) +
                          bytes_of(0, 2);
  std::vector<std::string_view> pieces;
  for (size_t i = 0; i < members.size(); ++i) {
    pieces.push_back(headers[i]);
    pieces.push_back(members[i].second);
  }
  pieces.push_back(directory);
  pieces.push_back(end);
  write_file_atomically(path, pieces);
}

}  // namespace hewn::io
