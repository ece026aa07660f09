#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace hewn {

/// What a path that is written to leads to, by way of links.
struct OutputTarget {
  std::filesystem::path path;  // no link itself
  int descriptor = -1;         // of this process, where the path names one (/dev/stdout, /dev/fd/5)
  bool direct = false;         // a pipe or a character device: written to, never replaced
  mode_t mode = 0;             // of the file that is there; 0: there is none
};

/// Throws Error, naming the path, for what cannot be written: a folder, a socket, a block device, a loop.
OutputTarget output_target(const std::filesystem::path& path);

/// A file on its way: beside `path`, without a name where the system has such files, else under one that
/// nobody can guess and that is made anew, never found. It takes the place of `path` in one moment, in
/// `publish`, and leaves nothing behind where that is not reached. Where `path` is a link, the file that it
/// leads to is replaced; pipes and character devices are written to directly. Failures throw Error.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  int descriptor() const { return descriptor_; }
  bool direct() const { return target_.direct; }
  /// Synced, then renamed, then the folder synced.
  void publish();
  [[noreturn]] void fail() const;

 private:
  void open_beside();
  std::string fresh_name() const;

  std::string given_;
  OutputTarget target_;
  std::filesystem::path temporary_;  // "" as long as it has no name
  int descriptor_ = -1;
};

/// Whether a file of that name is what a process that was killed has left of a NewFile.
bool is_left_over(const std::filesystem::path& path);

}  // namespace hewn
