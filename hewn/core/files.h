#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hewn {

/// The whole file; throws Error naming the path when it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// Writes so that a reader, or a crash at any moment, sees the old file or the new one, never a part: a
/// temporary file beside it, fsync, rename, fsync of the folder. The pieces are written one after the other.
void write_file_atomically(const std::filesystem::path& path, const std::vector<std::string_view>& pieces);
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// Makes the folder and its parents, and checks that a file can be written there.
void make_writable_folder(const std::filesystem::path& folder);

/// Holds an advisory lock on a file while it lives. Throws Error when another process holds it, or waits
/// for that one as long as it takes.
class FileLock {
 public:
  enum class WhenHeld { kThrow, kWait };
  explicit FileLock(const std::filesystem::path& path, WhenHeld when_held = WhenHeld::kThrow);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_ = -1;
};

/// Whether a process holds a FileLock on the file. Changes nothing; a file that is not there is not locked.
bool is_locked(const std::filesystem::path& path);

/// CRC-32 (the one of gzip and zlib), continued from `seed`.
uint32_t crc32(std::string_view data, uint32_t seed = 0);

/// Reads a gzip file, or a plain one; throws FormatError when the stream is truncated or damaged.
std::string read_gzip(const std::filesystem::path& path);

}  // namespace hewn
