#include "hewn/data/plumbing/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "hewn/core/error.h"

namespace hewn::data {
namespace {

constexpr size_t kLargestRead = size_t{1} << 30;

}  // namespace

InputFile::InputFile(const std::filesystem::path& path)
    : path_(path.string()), descriptor_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  if (descriptor_ < 0) throw Error(str(path_, ": cannot be read: ", std::strerror(errno)));
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    throw Error(str(path_, ": cannot be read: it is not a file"));
  }
}

InputFile::~InputFile() { ::close(descriptor_); }

size_t InputFile::read(char* buffer, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(descriptor_, buffer + done, std::min(size - done, kLargestRead));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(str(path_, ": cannot be read: ", std::strerror(errno)));
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

void InputFile::read_at(void* buffer, size_t size, uint64_t offset) const {
  auto* bytes = static_cast<char*>(buffer);
  while (size > 0) {
    const ssize_t got = ::pread(descriptor_, bytes, std::min(size, kLargestRead), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(str(path_, ": cannot be read: ", std::strerror(errno)));
    if (got == 0) throw FormatError(path_, "is truncated");
    bytes += got;
    size -= static_cast<size_t>(got);
    offset += static_cast<uint64_t>(got);
  }
}

void InputFile::seek(uint64_t offset) {
  if (::lseek(descriptor_, static_cast<off_t>(offset), SEEK_SET) < 0) {
    throw Error(str(path_, ": cannot be read: ", std::strerror(errno)));
  }
}

int64_t InputFile::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) throw Error(str(path_, ": cannot be read: ", std::strerror(errno)));
  return status.st_size;
}

}  // namespace hewn::data
