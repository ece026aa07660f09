#include "hewn/core/new_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "hewn/core/error.h"

namespace hewn {
namespace {

constexpr int kMostLinks = 40;  // as the kernel's own limit
constexpr std::string_view kStart = ".hewn-";
constexpr std::string_view kEnd = ".tmp";
constexpr mode_t kPermissions = 0777;

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw Error(str(path.string(), ": cannot be written: ", why));
}

/// The number in /dev/fd/NUMBER and what means the same.
std::optional<int> own_descriptor(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const char* const end = path.data() + path.size();
    int number = 0;
    const auto [stop, problem] = std::from_chars(path.data() + folder.size(), end, number);
    if (problem == std::errc() && stop == end && number >= 0) return number;
  }
  return {};
}

std::filesystem::path behind_link(const std::filesystem::path& link) {
  std::error_code problem;
  const std::filesystem::path to = std::filesystem::read_symlink(link, problem);
  if (problem) refuse(link, problem.message());
  return link.parent_path() / to;
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

}  // namespace

OutputTarget output_target(const std::filesystem::path& path) {
  OutputTarget out;
  out.path = path;
  if (!path.has_filename()) refuse(path, "it names a folder, expected a file");
  for (int links = 0;; ++links) {
    if (const auto number = own_descriptor(out.path.string())) {
      out.descriptor = *number;
      out.direct = true;
      return out;
    }
    struct stat found {};
    if (::lstat(out.path.c_str(), &found) != 0) {
      if (errno == ENOENT) return out;
      refuse(path, std::strerror(errno));
    }
    if (S_ISLNK(found.st_mode)) {
      if (links == kMostLinks) refuse(path, std::strerror(ELOOP));
      out.path = behind_link(out.path);
      continue;
    }
    if (S_ISDIR(found.st_mode)) refuse(path, "it is a folder, expected a file");
    if (S_ISSOCK(found.st_mode)) refuse(path, "it is a socket, expected a file");
    if (S_ISBLK(found.st_mode)) refuse(path, "it is a block device, expected a file");
    out.direct = !S_ISREG(found.st_mode);
    out.mode = found.st_mode & kPermissions;
    return out;
  }
}

NewFile::NewFile(const std::filesystem::path& path) : given_(path.string()), target_(output_target(path)) {
  if (target_.descriptor >= 0) {
    descriptor_ = ::fcntl(target_.descriptor, F_DUPFD_CLOEXEC, 0);
  } else if (target_.direct) {
    descriptor_ = ::open(target_.path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  } else {
    open_beside();
  }
  if (descriptor_ < 0) fail();
}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void NewFile::fail() const { refuse(given_, std::strerror(errno)); }

/// Short, so that a name of the longest length can be written; from the system, so that none can be foreseen.
std::string NewFile::fresh_name() const {
  std::array<unsigned char, 8> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) fail();
  std::string out(kStart);
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const unsigned char byte : bytes) {
    out.push_back(kDigits[byte / 16]);
    out.push_back(kDigits[byte % 16]);
  }
  return (folder_of(target_.path) / out.append(kEnd)).string();
}

void NewFile::open_beside() {
  constexpr mode_t kMode = 0644;
  descriptor_ = ::open(folder_of(target_.path).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kMode);
  if (descriptor_ >= 0) return;
  // Some file systems have no files without names.
  const std::string name = fresh_name();
  descriptor_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode);
  if (descriptor_ >= 0) temporary_ = name;
}

void NewFile::publish() {
  if (target_.direct) return;
  if (target_.mode != 0) ::fchmod(descriptor_, target_.mode);
  if (::fsync(descriptor_) != 0) fail();
  if (temporary_.empty()) {
    const std::string name = fresh_name();
    const std::string own = str("/proc/self/fd/", descriptor_);
    if (::linkat(AT_FDCWD, own.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) fail();
    temporary_ = name;
  }
  if (::rename(temporary_.c_str(), target_.path.c_str()) != 0) fail();
  temporary_.clear();
  const int folder = ::open(folder_of(target_.path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

bool is_left_over(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.size() == kStart.size() + 16 + kEnd.size() && name.starts_with(kStart) && name.ends_with(kEnd);
}

}  // namespace hewn
