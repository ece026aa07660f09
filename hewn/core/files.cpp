#include "hewn/core/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <system_error>
#include <thread>

#include "hewn/core/error.h"

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

bool write_and_sync(const std::filesystem::path& path, const std::vector<std::string_view>& pieces) {
  const Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.ok()) return false;
  for (const std::string_view piece : pieces) {
    if (!write_all(file.get(), piece)) return false;
  }
  return ::fsync(file.get()) == 0;
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || std::filesystem::is_directory(path)) throw Error(str(path.string(), ": cannot be read"));
  std::string content(static_cast<size_t>(file.tellg()), '\0');
  file.seekg(0);
  if (!file.read(content.data(), static_cast<std::streamsize>(content.size()))) {
    throw Error(str(path.string(), ": cannot be read to its end"));
  }
  return content;
}

void write_file_atomically(const std::filesystem::path& path, const std::vector<std::string_view>& pieces) {
  const std::filesystem::path temporary = path.string() + ".tmp";
  if (!write_and_sync(temporary, pieces) || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string why = reason();
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw Error(str(path.string(), ": cannot be written: ", why));
  }
  const Descriptor folder(path.has_parent_path() ? path.parent_path() : ".", O_RDONLY | O_DIRECTORY);
  if (folder.ok()) ::fsync(folder.get());
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  write_file_atomically(path, std::vector<std::string_view>{content});
}

void make_writable_folder(const std::filesystem::path& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) throw Error(str(folder.string(), ": cannot make this folder: ", problem.message()));
  // A name of its own: others may probe a shared folder at the same moment.
  const std::filesystem::path probe =
      folder /
      str(".write-test-", ::getpid(), "-", std::chrono::steady_clock::now().time_since_epoch().count());
  if (!write_and_sync(probe, {"x"})) {
    throw Error(str(folder.string(), ": cannot write into this folder: ", reason()));
  }
  std::filesystem::remove(probe, problem);
}

FileLock::FileLock(const std::filesystem::path& path, WhenHeld when_held)
    : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
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
  const Descriptor file(path, O_RDONLY);
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

std::string read_gzip(const std::filesystem::path& path) {
  if (!std::filesystem::is_regular_file(path)) throw Error(str(path.string(), ": no such file"));
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) throw Error(str(path.string(), ": cannot be read: ", reason()));
  std::string content;
  std::vector<char> buffer(1 << 20);
  for (;;) {
    const int got = gzread(file.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
    if (got > 0) content.append(buffer.data(), static_cast<size_t>(got));
    int code = Z_OK;
    const char* message = gzerror(file.get(), &code);
    // A stream that stops early reads as "end of file" with this code, not as a failed read.
    if (got < 0 || code == Z_BUF_ERROR) {
      throw FormatError(path.string(), str("truncated or damaged gzip data: ", message));
    }
    if (got == 0) return content;
  }
}

}  // namespace hewn
