#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hewn/io/byte_stream.h"

namespace hewn::io {

/// A file inside a ZIP archive, as the archive's directory describes it.
struct ZipMember {
  std::string name;
  uint16_t method = 0;  // 0: stored, 8: deflated
  uint32_t crc = 0;
  uint64_t packed = 0;  // bytes in the archive
  uint64_t size = 0;    // bytes when unpacked
  uint64_t header = 0;  // where it starts
};

/// The directory of an archive below 4 GiB. Throws FormatError, also where a member is encrypted, packed in
/// another way, or said to be larger than its packed bytes can become.
std::vector<ZipMember> read_zip_directory(const std::filesystem::path& path);

/// The unpacked bytes of a member; its checksum is compared when the last one is read.
std::unique_ptr<ByteStream> open_zip_member(const std::filesystem::path& path, const ZipMember& member);

/// Writes an archive of (name, bytes), stored as they are, atomically; the bytes of each member begin at a
/// multiple of `alignment`. Throws Error from 4 GiB on.
void write_zip(const std::filesystem::path& path,
               const std::vector<std::pair<std::string, std::string_view>>& members, uint64_t alignment = 1);

}  // namespace hewn::io
