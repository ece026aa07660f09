#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace hewn::data {

/// A file open for reading. Every failure throws Error with the path and the system's reason.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Fills the buffer from where the last call stopped; less than `size` bytes come only at the end.
  size_t read(char* buffer, size_t size);
  /// All of `size` bytes at `offset`; throws where the file is shorter. Threads may share it.
  void read_at(void* buffer, size_t size, uint64_t offset) const;
  void seek(uint64_t offset);

  int64_t size() const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace hewn::data
