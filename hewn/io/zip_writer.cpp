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

}  // namespace

void write_zip(const std::filesystem::path& path,
               const std::vector<std::pair<std::string, std::string>>& members) {
  std::vector<std::string> headers;
  std::string directory;
  uint64_t offset = 0;
  for (const auto& [name, bytes] : members) {
    // What stands the same in a member's header and in the directory: flags and method are 0.
    const std::string common = bytes_of(kVersion, 2) + bytes_of(0, 4) + bytes_of(kFirstDate, 4) +
                               bytes_of(crc32(bytes), 4) + bytes_of(bytes.size(), 4) +
                               bytes_of(bytes.size(), 4) + bytes_of(name.size(), 2) + bytes_of(0, 2);
    headers.push_back(str("PK\x03\x04", common, name));
    directory += str("PK\x01\x02", bytes_of(kVersion, 2), common, bytes_of(0, 10), bytes_of(offset, 4), name);
    offset += headers.back().size() + bytes.size();
  }
  if (offset + directory.size() > std::numeric_limits<uint32_t>::max()) {
    throw Error(str(path.string(), ": would be larger than 4 GiB; save its arrays as .npy files"));
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
