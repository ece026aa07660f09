#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hewn {

/// Whether something is there. Throws Error, naming the path, where that cannot be known: no permission, a
/// name that is too long, links that lead to themselves.
bool is_there(const std::filesystem::path& path);

/// Throws Error unless a regular file is there: a folder cannot be read, and a pipe would wait for a writer.
void expect_file(const std::filesystem::path& path);

/// The whole file, which must be a regular one; throws Error naming the path when it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// The same of a pipe too, which is waited for; of at most so many bytes.
std::string read_text_input(const std::filesystem::path& path, uint64_t most);

/// Writes so that a reader, or a crash at any moment, sees the old file or the new one, never a part
/// (core/new_file.h). The pieces are written one after the other.
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

/// Reads a gzip file, or a plain one; throws FormatError when the stream is truncated or damaged, or holds
/// more than `most` bytes.
std::string read_gzip(const std::filesystem::path& path, uint64_t most);
/// Its first bytes, so many or all there are.
std::string read_gzip_start(const std::filesystem::path& path, size_t count);

}  // namespace hewn
