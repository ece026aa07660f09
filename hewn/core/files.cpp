#include "hewn/core/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <system_error>
#include <thread>

#include "hewn/core/error.h"
#include "hewn/core/new_file.h"

namespace hewn {
namespace {

constexpr int kAttempts = 3;  // to take a lock

std::string reason() { return std::strerror(errno); }

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags)
      : value_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  bool ok() const { return value_ >= 0; }
  int get() const { return value_; }

 private:
  int value_;
};

bool write_all(int descriptor, std::string_view data) {
  while (!data.empty()) {
    const ssize_t written = ::write(descriptor, data.data(), std::min<size_t>(data.size(), 1 << 30));
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    data.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

void write_pieces(const NewFile& file, const std::vector<std::string_view>& pieces) {
  for (const std::string_view piece : pieces) {
    if (!write_all(file.descriptor(), piece)) file.fail();
  }
}

[[noreturn]] void cannot_read(const std::filesystem::path& path, const std::string& why) {
  throw FormatError(path.string(), str("cannot be read: ", why));
}

/// Says what else it is.
void check_regular(const std::filesystem::path& path, const struct stat& found) {
  if (S_ISDIR(found.st_mode)) cannot_read(path, "it is a folder");
  if (!S_ISREG(found.st_mode)) cannot_read(path, "it is not a file, but a pipe, a device or a socket");
}

std::string read_all(int descriptor, const std::filesystem::path& path, uint64_t expected, uint64_t most) {
  std::string content(expected, '\0');
  for (size_t done = 0;;) {
    if (done == content.size()) content.resize(std::max<size_t>(1 << 16, done + done / 2));
    const ssize_t got =
        ::read(descriptor, content.data() + done, std::min<size_t>(content.size() - done, size_t{1} << 30));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cannot_read(path, reason());
    done += static_cast<size_t>(got);
    if (done > most) throw FormatError(path.string(), str("is too large: at most ", most, " bytes are read"));
    if (got > 0) continue;
    content.resize(done);
    return content;
  }
}

using GzipFile = std::unique_ptr<gzFile_s, int (*)(gzFile)>;

GzipFile open_gzip(const std::filesystem::path& path) {
  expect_file(path);
  GzipFile file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) cannot_read(path, reason());
  return file;
}

/// Up to so many bytes more.
std::string take_gzip(gzFile file, const std::filesystem::path& path, size_t count) {
  std::string out(count, '\0');
  const int got = gzread(file, out.data(), static_cast<unsigned>(count));
  int code = Z_OK;
  const char* message = gzerror(file, &code);
  // A stream that stops early reads as "end of file" with this code, not as a failed read.
  if (got < 0 || code == Z_BUF_ERROR) {
    throw FormatError(path.string(), str("truncated or damaged gzip data: ", message));
  }
  out.resize(static_cast<size_t>(got));
  return out;
}

}  // namespace

bool is_there(const std::filesystem::path& path) {
  std::error_code problem;
  const bool there = std::filesystem::exists(path, problem);
  if (problem) throw Error(str(path.string(), ": ", problem.message()));
  return there;
}

void expect_file(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) cannot_read(path, reason());
  check_regular(path, found);
}

std::string read_file(const std::filesystem::path& path) {
  // Without O_NONBLOCK a pipe would wait here, before it is known to be one.
  const Descriptor file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  struct stat found {};
  if (!file.ok() || ::fstat(file.get(), &found) != 0) cannot_read(path, reason());
  check_regular(path, found);
  // One byte more than expected, to see the end without another buffer.
  return read_all(file.get(), path, static_cast<uint64_t>(found.st_size) + 1,
                  std::numeric_limits<uint64_t>::max());
}

std::string read_text_input(const std::filesystem::path& path, uint64_t most) {
  const Descriptor file(path, O_RDONLY | O_NOCTTY);
  struct stat found {};
  if (!file.ok() || ::fstat(file.get(), &found) != 0) cannot_read(path, reason());
  if (!S_ISFIFO(found.st_mode)) check_regular(path, found);
  return read_all(file.get(), path, 0, most);
}

void write_file_atomically(const std::filesystem::path& path, const std::vector<std::string_view>& pieces) {
  NewFile file(path);
  write_pieces(file, pieces);
  file.publish();
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  write_file_atomically(path, std::vector<std::string_view>{content});
}

void make_writable_folder(const std::filesystem::path& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) throw Error(str(folder.string(), ": cannot make this folder: ", problem.message()));
  const auto take = [](const Descriptor& file) {
    return file.ok() && write_all(file.get(), "x") && ::fsync(file.get()) == 0;
  };
  // Without a name, so that a kill leaves nothing behind, where the file system has such files.
  if (take(Descriptor(folder, O_TMPFILE | O_WRONLY))) return;
  // A name of its own: others may probe a shared folder at the same moment.
  const std::filesystem::path probe =
      folder /
      str(".write-test-", ::getpid(), "-", std::chrono::steady_clock::now().time_since_epoch().count());
  const Descriptor file(probe, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  const bool written = take(file);
  const std::string why = reason();
  if (file.ok()) std::filesystem::remove(probe, problem);
  if (!written) throw Error(str(folder.string(), ": cannot write into this folder: ", why));
}

FileLock::FileLock(const std::filesystem::path& path, WhenHeld when_held)
    : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) throw Error(str(path.string(), ": cannot be opened: ", reason()));
  // is_locked holds the lock for a moment: ask a few times.
  for (int attempt = 1; ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0; ++attempt) {
    if (attempt < kAttempts || when_held == WhenHeld::kWait) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      continue;
    }
    ::close(descriptor_);
    throw Error(str(path.string(), ": another process is using this folder"));
  }
}

FileLock::~FileLock() { ::close(descriptor_); }

bool is_locked(const std::filesystem::path& path) {
  const Descriptor file(path, O_RDONLY | O_NONBLOCK);
  return file.ok() && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

uint32_t crc32(std::string_view data, uint32_t seed) {
  uLong value = seed;
  while (!data.empty()) {
    const size_t chunk = std::min<size_t>(data.size(), std::numeric_limits<uInt>::max());
    value = ::crc32(value, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(chunk));
    data.remove_prefix(chunk);
  }
  return static_cast<uint32_t>(value);
}

std::string read_gzip(const std::filesystem::path& path, uint64_t most) {
  const GzipFile file = open_gzip(path);
  std::string content;
  for (;;) {
    const std::string more = take_gzip(file.get(), path, 1 << 20);
    if (more.empty()) return content;
    if (more.size() > most - content.size()) {
      throw FormatError(path.string(), str("is too large: it holds more than ", most, " bytes"));
    }
    content += more;
  }
}

std::string read_gzip_start(const std::filesystem::path& path, size_t count) {
  return take_gzip(open_gzip(path).get(), path, count);
}

}  // namespace hewn
