#include "hewn/data/plumbing/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hewn::data {

OutputFile::OutputFile(const std::filesystem::path& path, Mode mode) : path_(path.string()) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
  if (mode == Mode::kCreate) ::unlink(path.c_str());
  descriptor_ = ::open(path.c_str(), kFlags | (mode == Mode::kCreate ? O_EXCL : 0), 0644);
  if (descriptor_ < 0) fail();
  const off_t end = ::lseek(descriptor_, 0, SEEK_END);
  if (end > 0) size_ = static_cast<uint64_t>(end);
}

OutputFile::OutputFile(const NewFile& file, const std::filesystem::path& path)
    : path_(path.string()), descriptor_(::fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0)) {
  if (descriptor_ < 0) fail();
}

OutputFile::~OutputFile() { ::close(descriptor_); }

void OutputFile::fail() const { throw WriteError(str(path_, ": cannot be written: ", std::strerror(errno))); }

void OutputFile::append(const void* data, size_t size) {
  write_at(data, size, size_);
  size_ += size;
}

void OutputFile::write_at(const void* data, size_t size, uint64_t offset) const {
  constexpr size_t kLargestWrite = size_t{1} << 30;
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written =
        ::pwrite(descriptor_, bytes, std::min(size, kLargestWrite), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    bytes += written;
    size -= static_cast<size_t>(written);
    offset += static_cast<uint64_t>(written);
  }
}

void OutputFile::truncate(uint64_t size) {
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) fail();
  size_ = size;
}

void OutputFile::sync() const {
  if (::fsync(descriptor_) != 0) fail();
}

void publish(const std::filesystem::path& temporary, const std::filesystem::path& path) {
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    throw WriteError(str(path.string(), ": cannot be written: ", std::strerror(errno)));
  }
  const int folder = ::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

}  // namespace hewn::data
