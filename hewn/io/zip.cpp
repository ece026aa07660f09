#include "hewn/io/zip.h"

#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include "hewn/core/error.h"
#include "hewn/core/files.h"

namespace hewn::io {
namespace {

constexpr uint64_t kEndSize = 22;             // of the record that ends an archive
constexpr uint64_t kLongestComment = 0xffff;  // behind it
constexpr uint64_t kEntrySize = 46;           // of a member in the directory, without its name
constexpr uint64_t kHeaderSize = 30;          // of a member before its bytes, without its name
constexpr uint64_t kMostPerByte = 1032;       // that a deflated byte can become
constexpr size_t kChunk = size_t{1} << 16;

uint64_t number(std::string_view bytes, size_t at, size_t count) {
  uint64_t out = 0;
  for (size_t i = 0; i < count; ++i) {
    out |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return out;
}

/// A file that can be read anywhere.
class File {
 public:
  explicit File(const std::filesystem::path& path) : path_(path.string()) {
    expect_file(path);
    file_.open(path, std::ios::binary);
    if (!file_) throw FormatError(path_, "cannot be read");
    file_.seekg(0, std::ios::end);
    size_ = static_cast<uint64_t>(file_.tellg());
  }
  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }

  void seek(uint64_t offset) { file_.seekg(static_cast<std::streamoff>(offset)); }
  void read(char* to, size_t count) {
    file_.read(to, static_cast<std::streamsize>(count));
    if (!file_) throw FormatError(path_, "ends inside a member of the archive");
  }
  std::string bytes(uint64_t offset, uint64_t count) {
    if (offset > size_ || count > size_ - offset) throw FormatError(path_, "is cut off (ZIP archive)");
    std::string out(count, '\0');
    seek(offset);
    read(out.data(), out.size());
    return out;
  }

 private:
  std::string path_;
  std::ifstream file_;
  uint64_t size_ = 0;
};

ZipMember parse_entry(const std::string& path, std::string_view directory, size_t at) {
  ZipMember out;
  const uint64_t flags = number(directory, at + 8, 2);
  out.method = static_cast<uint16_t>(number(directory, at + 10, 2));
  out.crc = static_cast<uint32_t>(number(directory, at + 16, 4));
  out.packed = number(directory, at + 20, 4);
  out.size = number(directory, at + 24, 4);
  out.header = number(directory, at + 42, 4);
  out.name = directory.substr(at + kEntrySize, number(directory, at + 28, 2));
  if (out.packed == 0xffffffff || out.size == 0xffffffff || out.header == 0xffffffff) {
    throw FormatError(path, "is larger than 4 GiB, which is not supported; save its arrays one by one");
  }
  if ((flags & 1) != 0) throw FormatError(path, str("member ", out.name, " is encrypted"));
  if (out.method != 0 && out.method != 8) {
    throw FormatError(
        path, str("member ", out.name, " is packed by method ", out.method, "; expected stored or deflated"));
  }
  if (out.method == 0 ? out.size != out.packed : out.size / kMostPerByte > out.packed) {
    throw FormatError(path,
                      str("member ", out.name, " cannot have ", out.size, " bytes, packed in ", out.packed));
  }
  return out;
}

class MemberStream final : public ByteStream {
 public:
  MemberStream(const std::filesystem::path& path, const ZipMember& member) : file_(path), member_(member) {
    const std::string header = file_.bytes(member.header, kHeaderSize);
    if (!header.starts_with("PK\x03\x04"))
      throw FormatError(file_.path(), str("member ", member.name, " is damaged"));
    const uint64_t begin = member.header + kHeaderSize + number(header, 26, 2) + number(header, 28, 2);
    if (begin > file_.size() || member.packed > file_.size() - begin) {
      throw FormatError(file_.path(), str("ends inside member ", member.name));
    }
    file_.seek(begin);
    left_ = member.packed;
    if (inflateInit2(&inflater_, -MAX_WBITS) != Z_OK) throw Error("zlib: out of memory");
  }
  ~MemberStream() override { inflateEnd(&inflater_); }
  MemberStream(const MemberStream&) = delete;
  MemberStream& operator=(const MemberStream&) = delete;

  uint64_t size() const override { return member_.size; }

  void read(char* to, size_t count) override {
    if (count > member_.size - given_)
      throw FormatError(file_.path(), str("member ", member_.name, " is too short"));
    if (member_.method == 0) {
      file_.read(to, count);
    } else {
      inflate_into(to, count);
    }
    crc_ = crc32({to, count}, crc_);
    given_ += count;
    if (given_ == member_.size && crc_ != member_.crc) damaged();
  }

 private:
  [[noreturn]] void damaged() const {
    throw FormatError(file_.path(), str("member ", member_.name, " is damaged: its checksum does not fit"));
  }
  void inflate_into(char* to, size_t count) {
    while (count > 0) {
      if (inflater_.avail_in == 0) {
        const auto take = static_cast<size_t>(std::min<uint64_t>(kChunk, left_));
        if (take == 0) damaged();
        packed_.resize(take);
        file_.read(packed_.data(), take);
        left_ -= take;
        inflater_.next_in = reinterpret_cast<Bytef*>(packed_.data());
        inflater_.avail_in = static_cast<uInt>(take);
      }
      const auto wanted = static_cast<uInt>(std::min<size_t>(count, size_t{1} << 30));
      inflater_.next_out = reinterpret_cast<Bytef*>(to);
      inflater_.avail_out = wanted;
      const int state = inflate(&inflater_, Z_NO_FLUSH);
      const size_t got = wanted - inflater_.avail_out;
      to += got;
      count -= got;
      if (state != Z_OK && !(state == Z_STREAM_END && count == 0)) damaged();
    }
  }

  File file_;
  ZipMember member_;
  uint64_t left_ = 0;   // packed bytes that were not read yet
  uint64_t given_ = 0;  // bytes handed out
  uint32_t crc_ = 0;
  std::string packed_;
  z_stream inflater_ = {};
};

}  // namespace

std::vector<ZipMember> read_zip_directory(const std::filesystem::path& path) {
  File file(path);
  const uint64_t tail_size = std::min(file.size(), kEndSize + kLongestComment);
  const std::string tail = file.bytes(file.size() - tail_size, tail_size);
  const size_t end = tail.rfind("PK\x05\x06");
  if (end == std::string::npos || tail.size() - end < kEndSize) {
    throw FormatError(path.string(), "is not a ZIP archive (.npz, .pt), or its end is missing");
  }
  const uint64_t count = number(tail, end + 10, 2);
  const std::string directory = file.bytes(number(tail, end + 16, 4), number(tail, end + 12, 4));
  std::vector<ZipMember> out;
  size_t at = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (directory.size() - at < kEntrySize || directory.compare(at, 4, "PK\x01\x02") != 0) {
      throw FormatError(path.string(), "its ZIP directory is damaged");
    }
    const uint64_t length = kEntrySize + number(directory, at + 28, 2) + number(directory, at + 30, 2) +
                            number(directory, at + 32, 2);
    if (length > directory.size() - at) throw FormatError(path.string(), "its ZIP directory is damaged");
    out.push_back(parse_entry(path.string(), directory, at));
    at += length;
  }
  return out;
}

std::unique_ptr<ByteStream> open_zip_member(const std::filesystem::path& path, const ZipMember& member) {
  return std::make_unique<MemberStream>(path, member);
}

}  // namespace hewn::io
