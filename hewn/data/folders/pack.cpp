#include "hewn/data/folders/pack.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/data/folders/index.h"
#include "hewn/data/folders/pack_format.h"
#include "hewn/data/plumbing/input_file.h"

namespace hewn::data {

ImagePack::ImagePack(const std::filesystem::path& path) {
  size_ = static_cast<uint64_t>(InputFile(path).size());
  if (size_ < sizeof(PackHeader)) throw FormatError(path.string(), "is no pack of images: it is too short");
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  if (mapped == MAP_FAILED) throw Error(str(path.string(), ": cannot be mapped into memory"));
  data_ = static_cast<const char*>(mapped);
  try {
    read_tables(path.string());
  } catch (...) {
    ::munmap(mapped, size_);
    throw;
  }
}

ImagePack::~ImagePack() { ::munmap(const_cast<char*>(data_), size_); }

void ImagePack::read_tables(const std::string& path) {
  const auto damaged = [&](const char* what) { throw FormatError(path, str("is damaged: ", what)); };
  PackHeader header;
  std::memcpy(&header, data_, sizeof(header));
  if (std::memcmp(header.magic, PackHeader().magic, sizeof(header.magic)) != 0) {
    throw FormatError(path, "is no pack of images (hewn prepare makes one)");
  }
  if (header.version != PackHeader().version) throw FormatError(path, str("has version ", header.version));
  if (header.file_bytes != size_) damaged("it has another length than it says");
  if (header.index < sizeof(header) || header.index > header.offsets || header.offsets > size_) {
    damaged("its tables lie outside of it");
  }
  const std::string_view tables(data_ + header.index, size_ - header.index);
  if (crc32(tables) != header.crc) damaged("the checksum of its tables does not match");
  int64_t listed = 0;
  images_ = parse_index(tables.substr(0, header.offsets - header.index), path, &listed);
  offsets_.resize(images_.size() + 1);
  if (offsets_.size() * sizeof(uint64_t) != size_ - header.offsets) damaged("its tables do not fit");
  std::memcpy(offsets_.data(), data_ + header.offsets, offsets_.size() * sizeof(uint64_t));
  uint64_t before = sizeof(header);
  for (const uint64_t offset : offsets_) {
    if (offset < before || offset > header.index) damaged("an image lies outside of it");
    before = offset;
  }
}

std::string_view ImagePack::image(size_t number) const {
  return {data_ + offsets_[number], offsets_[number + 1] - offsets_[number]};
}

}  // namespace hewn::data
